"""The medium as the kernels take it: moduli and densities at the points of the staggered grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Relaxation:
    """Attenuation by one memory variable a stress and cell: of three mechanisms, those of neighbours differ.

    The cell (i, j, k) of the padded grid has mechanism (i + j + k) mod 3 (coarse-grained memory variables; Day 1998;
    Day & Bradley 2001, Bull. Seism. Soc. Am. 91(3)). All moduli of the medium are then unrelaxed ones, which differ by
    mechanism, too (attenuation.py). With the memory variable zeta of a stress and r the stress that its mechanism
    relaxes in a step,

        zeta' = decay zeta + (1 - decay) r,     sigma' = sigma + (elastic increment) - (zeta + zeta') / 2
        normal, xx:  r = defect_p p_modulus (exx + eyy + ezz) - defect_s 2 mu (eyy + ezz)
        shear, xy:   r = defect_s shear (dvx/dy + dvy/dx)

    with e the strain rates and 2 mu = p_modulus - lame; zeta, like the moduli, holds a factor dt.

    Attributes:
        decay: exp(-dt / relaxation time) of the three mechanisms.
        defect_p, defect_s: arrays as those of Medium: how much the mechanism of that cell relaxes the P and the
            shear modulus, as fractions of the unrelaxed ones.
    """

    decay: tuple[float, float, float]
    defect_p: np.ndarray
    defect_s: np.ndarray


@dataclass(frozen=True, eq=False)
class Medium:
    """Model arrays of the kernels, which hold the time step.

    Arrays [x, y, z] on this rank's owned cells, of the propagation's dtype, rows padded to whole cache lines as by
    `grid.arrays.allocate`, zero in the padding.

    Attributes:
        buoyancy: dt / rho at the points of the velocities (vx, vy, vz; without vy in two dimensions), m3 s / kg;
            densities are arithmetic means of the nodes on both sides.
        p_modulus, lame: dt (lambda + 2 mu) and dt lambda at the nodes, Pa s.
        shear: dt mu at the points of sxy, sxz, syz (sxz alone in two dimensions), harmonic means of four nodes, 0 where
            one of them is a fluid, Pa s.
        relaxation: attenuation; None: elastic.
        water_in_floor: (nx, ny), dt / rho of the water in a sea floor that slopes; None: there is none.
    """

    buoyancy: dict[str, np.ndarray]
    p_modulus: np.ndarray
    lame: np.ndarray
    shear: dict[str, np.ndarray]
    relaxation: Relaxation | None = None
    water_in_floor: np.ndarray | None = None
