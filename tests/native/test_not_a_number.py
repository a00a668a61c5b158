"""What is no number, or no place, gets past no bound of the kernels: it is refused, or comes out as NaN."""

import numpy as np
import pytest

from fathometer import _native
from fathometer.runs.exact_sum import BITS, LIMBS, add, top_of

NAN, INF = float("nan"), float("inf")
FLOATS = [(np.float32, "Float32"), (np.float64, "Float64")]
LEAST = np.iinfo(np.int64).min  # what NumPy makes of NaN


def points(suffix, dtype, receivers, first=(1, 0, 1), count=(1, 1, 1), weight=1.0, shape=(4, 1, 6)):
    weights = np.zeros((1, 3, 8), dtype)
    weights[:, :, 0] = weight
    return getattr(_native, f"Points{suffix}")(
        first=np.array([first], np.int64), count=np.array([count], np.int32), weight=weights,
        column=np.zeros(1, np.int64), shape=shape, receivers=receivers,
    )  # fmt: skip


@pytest.mark.parametrize(("dtype", "suffix"), FLOATS)
@pytest.mark.parametrize("receivers", [False, True])
@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"first": (LEAST, 0, 1)}, "no place on a grid"),
        ({"first": (1, 0, LEAST)}, "no place on a grid"),
        ({"first": (1, np.iinfo(np.int64).max, 1)}, "no place on a grid"),
        ({"weight": NAN}, "weight is not finite"),
        ({"weight": INF}, "weight is not finite"),
        ({"count": (9, 1, 1)}, "1 to 8 cells"),
        ({"count": (0, 1, 1)}, "1 to 8 cells"),
        ({"count": (1, 1, -1)}, "1 to 8 cells"),
        ({"shape": (4, 1, LEAST)}, "a block has cells"),
    ],
)
def test_points(dtype, suffix, receivers, wrong, told):
    assert len(points(suffix, dtype, receivers)) == 1
    with pytest.raises(ValueError, match=told):
        points(suffix, dtype, receivers, **wrong)


@pytest.mark.parametrize(("dtype", "suffix"), FLOATS)
@pytest.mark.parametrize("first", [(-20, 0, 1), (40, 0, 1), (1, 0, -12)])
def test_receivers_far_from_their_block(dtype, suffix, first):
    """Another rank samples there; sources may lie anywhere, since only what lies in the block is injected."""
    with pytest.raises(ValueError, match="outside the block and its halo"):
        points(suffix, dtype, True, first, (8, 1, 8))
    assert len(points(suffix, dtype, False, first, (8, 1, 8))) == 1


@pytest.mark.parametrize(("dtype", "suffix"), FLOATS)
@pytest.mark.parametrize("scale", [NAN, INF, -INF])
def test_the_scale_of_a_series(dtype, suffix, scale):
    job = getattr(_native, f"Job{suffix}")
    sources, series = points(suffix, dtype, False), np.zeros((3, 1), dtype)
    job(sources=sources, injected=series, scale=1.0)
    with pytest.raises(ValueError, match="scale of a series is not finite"):
        job(sources=sources, injected=series, scale=scale)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [NAN, INF, -INF, 2.0**40, -(2.0**41), 3e38])
def test_exact_sums(dtype, value):
    """No integer is made of what has none: the checked conversion of a NaN is whatever the processor makes of it."""
    limbs = np.zeros((LIMBS, 2, 3, 40), np.int64)
    values = np.full((2, 3, 40), 2.0**39, dtype)
    add(limbs, 0, values)
    assert (limbs[0] == 2**39).all()
    values[1, 2, 33] = value
    with pytest.raises(ValueError, match="not finite, or too large"):
        add(limbs, 0, values)
    assert abs(limbs).max() <= 2**40


@pytest.mark.parametrize(("upper", "lower"), [(NAN, 1.0), (1.0, NAN), (INF, 1.0), (0.0, 1.0), (1.0, -1.0)])
def test_powers_of_two_of_sums(upper, lower):
    limbs = np.zeros((LIMBS, 1, 1, 4), np.int64)
    with pytest.raises(ValueError, match="powers of two"):
        _native.add_exactly(np.zeros((1, 1, 4)), limbs[0], limbs[1], upper, lower)


@pytest.mark.parametrize("peak", [NAN, INF, -1.0])
def test_the_top_of_a_peak(peak):
    with pytest.raises(ValueError, match="a peak of"):
        top_of(peak)
    assert top_of(2.0**BITS) == 1


@pytest.mark.parametrize("kind", ["int8", "float16"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [NAN, INF, -INF, 1e39])
@pytest.mark.parametrize("cell", [0, 5, 7])
def test_encoded_blocks(kind, dtype, value, cell):
    """A block with such a value comes back as NaN, whole; its neighbours, in the same rows, as without it."""
    if value == 1e39 and dtype is np.float32:
        pytest.skip("infinite in float32")
    volume = np.random.default_rng(1).normal(size=(8, 8, 30)).astype(dtype)

    def there_and_back(values):
        encoded = np.zeros(values.shape, np.int8 if kind == "int8" else np.uint16)
        scales, back = np.zeros((1, 1, 4), np.float32), np.zeros_like(values)
        getattr(_native, f"encode_{kind}")(values, encoded, scales)
        getattr(_native, f"decode_{kind}")(encoded, scales, back)
        return encoded, back

    sound_code, sound = there_and_back(volume)
    assert np.isfinite(sound).all()
    volume[3, 4, 8 + cell] = value
    code, back = there_and_back(volume)
    assert (code[..., 8:16] == 0).all()
    assert np.isnan(back[..., 8:16]).all()
    for other in (slice(0, 8), slice(16, 30)):
        assert back[..., other].tobytes() == sound[..., other].tobytes()
        assert code[..., other].tobytes() == sound_code[..., other].tobytes()
