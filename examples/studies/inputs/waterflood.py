"""Writes a deck for OPM Flow: water displaces oil between two opposite corners of a square with three layers.

    python3 waterflood.py FOLDER/WATERFLOOD.DATA --cells 14 --months 24

Properties are round numbers of an ordinary sandstone and a light oil without gas; they describe no field.
"""

import argparse
from pathlib import Path

DECK = """\
-- A quarter of a five-spot: {cells} x {cells} x 3 cells, {months} months.
RUNSPEC
TITLE
  Quarter of a five-spot
DIMENS
  {cells} {cells} 3 /
OIL
WATER
METRIC
START
  1 'JAN' 2020 /
WELLDIMS
  2 3 1 2 /
TABDIMS
/
EQLDIMS
/
UNIFOUT

GRID
INIT
DX
  {all}*{side:.4f} /
DY
  {all}*{side:.4f} /
DZ
  {layer}*4 {layer}*6 {layer}*3 /
TOPS
  {layer}*2100 /
PORO
  {layer}*0.24 {layer}*0.18 {layer}*0.21 /
PERMX
  {layer}*350 {layer}*40 {layer}*180 /
COPY
  PERMX PERMY /
  PERMX PERMZ /
/
MULTIPLY
  PERMZ 0.1 /
/

PROPS
-- Sw   krw    kro    Pc (bar)
SWOF
  0.20  0.000  0.900  0.0
  0.30  0.015  0.620  0.0
  0.40  0.045  0.390  0.0
  0.50  0.095  0.215  0.0
  0.60  0.165  0.095  0.0
  0.70  0.260  0.025  0.0
  0.78  0.350  0.000  0.0
  1.00  1.000  0.000  0.0 /
PVTW
-- p (bar)  Bw     compressibility  viscosity (cP)
  220       1.02   4.4E-5           0.45  0 /
PVDO
-- p (bar)  Bo     viscosity (cP)
  60        1.120  1.10
  220       1.100  1.20
  400       1.080  1.35 /
ROCK
  220 5.0E-5 /
DENSITY
-- oil  water  gas (kg/m3)
  830   1030   0.9 /

SOLUTION
EQUIL
-- datum (m)  p (bar)  oil-water contact (m)  Pc
  2100        220      2300                   0 /

SUMMARY
FOPR
FWPR
FWIR
FPR

SCHEDULE
WELSPECS
  'INJ'  'WELLS'  1  1  1* 'WATER' /
  'PROD' 'WELLS' {cells} {cells}  1* 'OIL' /
/
COMPDAT
  'INJ'   1  1 1 3 'OPEN' 2* 0.2 /
  'PROD' {cells} {cells} 1 3 'OPEN' 2* 0.2 /
/
WCONINJE
  'INJ' 'WATER' 'OPEN' 'RATE' 90 1* 400 /
/
WCONPROD
  'PROD' 'OPEN' 'LRAT' 3* 90 1* 120 /
/
TSTEP
  1 4 10 15 {months}*30 /
END
"""
SIDE = 350.0  # m, of the square, however many cells it has


def main() -> None:
    """Write the deck."""
    parser = argparse.ArgumentParser(description="A deck for OPM Flow.")
    parser.add_argument("deck", type=Path, metavar="NAME.DATA")
    parser.add_argument("--cells", type=int, default=14, help="along each side (14); a layer has their square")
    parser.add_argument("--months", type=int, default=24, help="steps of 30 days, after those of the first month (24)")
    given = parser.parse_args()
    layer = given.cells**2
    text = DECK.format(cells=given.cells, months=given.months, side=SIDE / given.cells, layer=layer, all=3 * layer)
    given.deck.parent.mkdir(parents=True, exist_ok=True)
    given.deck.write_text(text)


if __name__ == "__main__":
    main()
