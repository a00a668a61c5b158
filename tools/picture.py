"""Makes a picture small enough for docs/pictures: the finest width and depth of colour that fit 600 kB.

python tools/picture.py IN.png docs/pictures/OUT.png
"""

import itertools
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image

LARGEST = 600_000  # bytes
WIDTHS = (1400, 1300, 1200, 1100, 1000, 900)  # dots
BITS = (8, 7, 6, 5)  # of each colour: 6 look like 8, and 5 do where much is going on


def shrink(source: Path, target: Path) -> None:
    """Write `target` from `source`; raises ValueError where nothing fits."""
    picture = Image.open(source).convert("RGB")
    for width, bits in itertools.product(WIDTHS, BITS):
        small = picture
        if picture.width > width:
            size = (width, round(picture.height * width / picture.width))
            small = picture.resize(size, Image.Resampling.LANCZOS)
        levels = 2**bits - 1
        small = small.point([round(round(v / 255 * levels) / levels * 255) for v in range(256)] * 3)
        file = BytesIO()
        small.save(file, "png", optimize=True)
        if len(file.getvalue()) <= LARGEST:
            target.write_bytes(file.getvalue())
            print(f"{target}: {small.width} x {small.height} dots, {bits} bits, {len(file.getvalue())} bytes")
            return
    raise ValueError(f"{source}: does not fit {LARGEST} bytes")


if __name__ == "__main__":
    shrink(*map(Path, sys.argv[1:]))
