"""Elastic time steps in NumPy, written from the equations with nothing of the program's kernels: slow, and plain."""

import numpy as np

# Kaiser-windowed points, media and layers come from the program: they are tested by themselves.
AXES = "xyz"
VELOCITIES = ("vx", "vy", "vz")
STRESSES = ("sxx", "syy", "szz", "sxy", "sxz", "syz")


def shifted(f, axis, by):
    """f at the index plus `by`, zero outside."""
    if by == 0:
        return f
    out = np.zeros_like(f)
    to, of = [slice(None)] * 3, [slice(None)] * 3
    n = f.shape[axis]
    to[axis], of[axis] = (slice(0, n - by), slice(by, n)) if by > 0 else (slice(-by, n), slice(0, n + by))
    out[tuple(to)] = f[tuple(of)]
    return out


class Reference:
    """Fields of a whole grid; arguments as those of ElasticPropagator, arrays of the medium without padding.

    filters: of layers, (axis, half) -> gain, decay, keep along the axis; a missing axis has none.
    """

    def __init__(self, shape, spacing, medium, free_surface, filters=None):
        self.shape, self.spacing, self.free_surface = shape, spacing, free_surface
        self.axes = (0, 2) if shape[1] == 1 else (0, 1, 2)
        self.medium, self.filters, self.memory = medium, filters or {}, {}
        names = [name for name in VELOCITIES + STRESSES if self.axes == (0, 1, 2) or "y" not in name]
        self.f = {name: np.zeros(shape) for name in names}
        self.zeta = {name: np.zeros(shape) for name in names if name[0] == "s"}

    def cells(self, array):
        return array[tuple(slice(0, n) for n in self.shape)]

    def derivative(self, name, axis, half, use):
        """Along an axis at the points half a cell behind those of the field (half) or before; use: who needs it."""
        f, h = self.f[name], self.spacing[axis]
        at = 0 if half else -1
        if self.free_surface and axis == 2:
            d = self._below_surface(f, h, half)
        else:
            d = 9 / 8 * (shifted(f, axis, at + 1) - shifted(f, axis, at)) / h
            d -= (shifted(f, axis, at + 2) - shifted(f, axis, at - 1)) / (24 * h)
        if (axis, half) in self.filters:
            gain, decay, _ = (self._along(filter, axis) for filter in self.filters[axis, half])
            memory = self.memory.get((name, axis, use), 0.0) * decay + gain * d
            self.memory[name, axis, use] = memory
            d = d + memory
        return d

    def _kept(self, name, field):
        for axis in self.axes:
            if (axis, False) in self.filters:
                half = name[1:].count(AXES[axis]) == 1
                field = field * self._along(self.filters[axis, half][2], axis)
        return field

    def _along(self, profile, axis):
        return profile.reshape([-1 if a == axis else 1 for a in range(3)])

    def _below_surface(self, f, h, half):
        """By the operators as matrices, one the transpose of the other in the norms of nodes and of half points."""
        n = f.shape[2]
        forward = np.zeros((n, n + 3))
        for row in range(3, n):
            forward[row, row - 1 : row + 3] = 1 / 24, -9 / 8, 9 / 8, -1 / 24
        forward[0, :5] = -27 / 26, 85 / 78, -1 / 26, -1 / 26, 1 / 39
        forward[1, :5] = 1 / 7, -85 / 63, 25 / 21, 2 / 21, -5 / 63
        forward[2, 2:4] = -1, 1
        forward = forward[:, :n]
        if half:
            return f @ forward.T / h
        nodes, half_points = np.ones(n), np.ones(n)
        nodes[:5], half_points[:3] = (3 / 8, 85 / 72, 11 / 12, 25 / 24, 71 / 72), (13 / 12, 7 / 8, 25 / 24)
        return f @ -(half_points[:, None] * forward) / nodes / h

    def step(self, inject):
        """One step; inject(stage): adds sources to the fields."""
        f, medium, axes = self.f, self.medium, self.axes
        new = {}
        for a in axes:
            v = "v" + AXES[a]
            force = 0.0
            for b in axes:
                stress = "s" + "".join(sorted(AXES[a] + AXES[b]))
                force = force + self.derivative(stress, b, a == b, v)
            new[v] = f[v] + self.cells(medium.buoyancy[v]) * force
        f.update({name: self._kept(name, field) for name, field in new.items()})
        inject(0)
        e = {(a, b): self.derivative("v" + AXES[a], b, a != b, "s") for a in axes for b in axes if (a, b) != (2, 2)}
        p, lame = self.cells(medium.p_modulus), self.cells(medium.lame)
        e[2, 2] = self.derivative("vz", 2, False, "s")
        across = sum(e[a, a] for a in axes if a < 2)
        if self.free_surface:
            e[2, 2][:, :, 0] = self._in_surface(across)
        rates, total = {}, sum(e[a, a] for a in axes)
        relaxation = medium.relaxation
        for a in axes:
            others = total - e[a, a]
            rates["s" + AXES[a] * 2] = (
                p * e[a, a] + lame * others,
                None
                if relaxation is None
                else self.cells(relaxation.defect_p) * p * total
                - self.cells(relaxation.defect_s) * (p - lame) * others,
            )
            for b in axes:
                if a < b:
                    name = "s" + AXES[a] + AXES[b]
                    shear = self.cells(medium.shear[name]) * (e[a, b] + e[b, a])
                    rates[name] = shear, None if relaxation is None else self.cells(relaxation.defect_s) * shear
        for name, (rate, relaxed) in rates.items():
            f[name] += rate
            if relaxation is not None:
                decay = self._decay()
                zeta = decay * self.zeta[name] + (1 - decay) * relaxed
                f[name] -= (zeta + self.zeta[name]) / 2
                self.zeta[name] = zeta
            f[name] = self._kept(name, f[name])
        inject(1)
        if self.free_surface:
            f["szz"][:, :, 0] = 0

    def _decay(self):
        i, j, k = np.indices(self.shape)
        return np.array(self.medium.relaxation.decay)[(i + j + k) % 3]

    def _in_surface(self, across):
        """dvz/dz in the surface, by solving what szz would become for it: it is linear in it."""
        p, lame = (self.cells(a)[:, :, 0] for a in (self.medium.p_modulus, self.medium.lame))
        across = across[:, :, 0]

        def increment(zz):
            rate = p * zz + lame * across
            if self.medium.relaxation is None:
                return rate
            relaxation, decay, zeta = self.medium.relaxation, self._decay()[:, :, 0], self.zeta["szz"][:, :, 0]
            dp, ds = (self.cells(a)[:, :, 0] for a in (relaxation.defect_p, relaxation.defect_s))
            r = dp * p * (across + zz) - ds * (p - lame) * across
            return rate - (zeta + decay * zeta + (1 - decay) * r) / 2

        at_zero = increment(0.0)
        return -at_zero / (increment(1.0) - at_zero)
