"""The history of a source wavefield with a graphics card, or with what stands for one: records have the bytes, and
images the bits, of those without a card."""

import numpy as np
import pytest
from card_surveys import processor_of, results
from cli_support import inputs
from support import Medium

from fathometer.seismic.history.card import BITS, BlockCoder
from fathometer.seismic.history.encoding import encoding_of
from fathometer.seismic.waves.boundary import Pml
from fathometer.seismic.waves.card_library import CardMemory


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", BITS)
def test_encodings_have_the_same_bytes(card, name, dtype):
    wave = Medium((20, 1, 20), 10.0, 2000.0, boundary=Pml(4), dtype=dtype, card=True).propagator.wave
    rng = np.random.default_rng(6)
    for shape in ((19, 9, 23), (16, 8, 8), (3, 1, 70)):
        snapshot = (rng.standard_normal(shape) * np.exp(rng.uniform(-60, 20, shape))).astype(dtype)
        snapshot[:9, :, :8] = 0
        snapshot[-1, 0, -1] = -1e-300 if dtype == np.float64 else -1e-37
        encoding = encoding_of(name, shape, np.dtype(dtype), 1e-3)
        coder = BlockCoder(wave, name, encoding, shape)
        assert coder.record_bytes == encoding.largest
        wanted, found = np.zeros((2, encoding.largest), np.uint8)
        decoded, returned = np.zeros((2, *shape), dtype)
        encoding.encode(snapshot, wanted)
        encoding.decode(wanted, decoded)
        memory = [CardMemory(array.nbytes) for array in (snapshot, found, returned)]
        plain, record, again = (
            room.view(0, array.shape, array.dtype)
            for room, array in zip(memory, (snapshot, found, returned), strict=True)
        )
        plain.fill_from(snapshot)
        coder.encode(plain, record)
        coder.decode(record, again)
        wave.settle()
        record.copy_to(found)
        again.copy_to(returned)
        assert found.tobytes() == wanted.tobytes()
        assert returned.tobytes() == decoded.tobytes()
        assert decoded.any()


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """Results of the processors by encoding, in a folder with the inputs."""
    folder = tmp_path_factory.mktemp("card")
    inputs(folder)
    made = {}

    def of(encoding):
        if encoding not in made:
            keys = {"parallel.processor": "cpu", "history.encoding": encoding, "model.epsilon": 0.1}
            made[encoding] = results(folder, f"cpu-{encoding}", keys)[0]
        return folder, made[encoding]

    return of


HISTORIES = {
    "auto": ({}, "card"),
    "card": ({"history.store": "card"}, "card"),
    "memory": ({"history.store": "memory"}, "memory"),
    "disk": ({"history.store": "disk"}, "disk"),
    "checkpoint": ({"history.store": "checkpoint", "history.memory_budget": 60000.0}, "checkpoint"),
    "int8": ({"history.encoding": "int8"}, "card"),
    "float16": ({"history.encoding": "float16"}, "card"),
    "int8 in memory": ({"history.encoding": "int8", "history.store": "memory"}, "memory"),
    "float16 in memory": ({"history.encoding": "float16", "history.store": "memory"}, "memory"),
    "int8 on disk": ({"history.encoding": "int8", "history.store": "disk"}, "disk"),
}


@pytest.mark.parametrize("name", HISTORIES)
def test_migrations_give_the_same_image(card, without, name):
    keys, store = HISTORIES[name]
    folder, wanted = without(keys.get("history.encoding", "float32"))
    found, record = results(folder, "gpu", keys | {"parallel.processor": "gpu", "model.epsilon": 0.1})
    assert found == wanted
    assert processor_of(record) == "gpu"
    assert record["results"]["history"]["store"] == store
