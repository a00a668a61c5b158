"""Files of a virtual dataset whose names have numbers."""

from fathometer.storage.volumes.formats.hdf5_files import _sources


def test_numbers_in_a_row_are_one_number(tmp_path):
    """Each by itself, five of them would take minutes on a long name."""
    for name in (f"{'1' * 200}.h5", "x12.h5", "x1-2.h5", "x.h5", "x1y.h5"):
        (tmp_path / name).touch()
    beside = tmp_path / "virtual.h5"
    assert _sources("%b" * 8 + "y.h5", beside) == []
    assert [path.name for path in _sources("x%b%04b.h5", beside)] == ["x12.h5"]
    assert [path.name for path in _sources("x%b-%b.h5", beside)] == ["x1-2.h5"]
