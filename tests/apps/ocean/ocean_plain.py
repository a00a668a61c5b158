"""The ocean's equations written down plainly, cell by cell, to compare the kernels with.

Arrays are global and framed by a ring of land or, where x is periodic, of what lies on the other side: `At` reads them.
"""

import numpy as np


class At:
    """Values of a global array (nx, ny, ...); nothing (0) outside."""

    def __init__(self, grid, values):
        self.values, self.periodic, (self.nx, self.ny) = values, grid.periodic, values.shape[:2]

    def __call__(self, i, j, *k):
        if self.periodic:
            i %= self.nx
        if not (0 <= i < self.nx and 0 <= j < self.ny):
            return np.zeros(self.values.shape[2:])[(*k,)] if self.values.ndim > 2 else 0.0
        return self.values[(i, j, *k)]


def thickness_u(grid, eta):
    """Of all levels at U points (nx, ny, nz), 0 in rock."""
    eta_at, wet = At(grid, eta), np.arange(grid.shape[2]) < grid.levels_u[..., None]
    result = np.where(wet, grid.thickness, 0.0)
    for i in range(grid.shape[0]):
        for j in range(grid.shape[1]):
            if grid.levels_u[i, j]:
                result[i, j, 0] += np.mean([eta_at(i + a, j + b) for a in (0, 1) for b in (0, 1)])
    return result


def volume_fluxes(grid, h, u, v):
    """Through east and north faces of cells (nx, ny, nz)."""
    a, b = At(grid, h * u), At(grid, h * v)
    flux_x, flux_y = np.zeros_like(u), np.zeros_like(u)
    for i in range(grid.shape[0]):
        for j in range(grid.shape[1]):
            flux_x[i, j] = grid.dy * (a(i, j) + a(i, j - 1)) / 2
            flux_y[i, j] = grid.dx_u[j] * (b(i, j) + b(i - 1, j)) / 2
    return flux_x, flux_y


def upward(grid, flux_x, flux_y):
    """Volume that moves up through the top of each cell (nx, ny, nz); the uppermost one's is what the surface takes."""
    fx, fy = At(grid, flux_x), At(grid, flux_y)
    out = np.zeros_like(flux_x)
    for i in range(grid.shape[0]):
        for j in range(grid.shape[1]):
            out[i, j] = fx(i, j) - fx(i - 1, j) + fy(i, j) - fy(i, j - 1)
    return -np.cumsum(out[..., ::-1], axis=2)[..., ::-1]


def advection(grid, eta, u, v):
    """Advection and metric terms of momentum, both components, and the rate at which cells of level 0 lose volume."""
    h, nz = thickness_u(grid, eta), grid.shape[2]
    flux_x, flux_y = volume_fluxes(grid, h, u, v)
    fx, fy, up = At(grid, flux_x), At(grid, flux_y), At(grid, upward(grid, flux_x, flux_y))
    result, lost = np.zeros((2, *u.shape)), np.zeros(u.shape[:2])
    for i, j in np.argwhere(grid.levels_u > 0):
        around = [(0, 0), (1, 0), (0, 1), (1, 1)]
        east = sum(fx(i + a, j + b) for a, b in around) / 4
        west = sum(fx(i - 1 + a, j + b) for a, b in around) / 4
        north = sum(fy(i + a, j + b) for a, b in around) / 4
        south = sum(fy(i + a, j - 1 + b) for a, b in around) / 4
        top = sum(up(i + a, j + b) for a, b in around) / 4
        lost[i, j] = -top[0]
        for c, q in enumerate((At(grid, u), At(grid, v))):
            for k in range(grid.levels_u[i, j]):
                here = q(i, j, k)
                sides = [(east[k], q(i + 1, j, k)), (-west[k], q(i - 1, j, k))]
                sides += [(north[k], q(i, j + 1, k)), (-south[k], q(i, j - 1, k))]
                if k > 0:
                    sides.append((top[k], q(i, j, k - 1)))
                if k + 1 < nz:
                    sides.append((-top[k + 1], q(i, j, k + 1)))
                volume = grid.dx_u[j] * grid.dy * h[i, j, k]
                result[c, i, j, k] = -sum(flux * (other - here) for flux, other in sides) / (2 * volume)
        metric = grid.tan_over_radius[j]
        result[0, i, j] += metric * u[i, j] * v[i, j]
        result[1, i, j] -= metric * u[i, j] ** 2
    wet = np.arange(nz) < grid.levels_u[..., None]
    return np.where(wet, result, 0), lost


def friction(grid, viscosity, u, v):
    """Lateral friction of momentum, both components."""
    result = np.zeros((2, *u.shape))
    radius = grid.dy / np.deg2rad(grid.y[1] - grid.y[0]) if grid.spherical else np.inf
    for i, j in np.argwhere(grid.levels_u > 0):
        dx, dy, tan = grid.dx_u[j], grid.dy, grid.tan_over_radius[j]
        for c, (q, other, sign) in enumerate(((u, v, -1), (v, u, 1))):
            q, other = At(grid, q), At(grid, other)
            result[c, i, j] = (q(i + 1, j) - 2 * q(i, j) + q(i - 1, j)) / dx**2
            north, south = grid.dx[j + 1] * (q(i, j + 1) - q(i, j)), grid.dx[j] * (q(i, j) - q(i, j - 1))
            result[c, i, j] += (north - south) / (dx * dy**2)
            result[c, i, j] += (1 / radius**2 - tan**2) * q(i, j)
            result[c, i, j] += sign * 2 * tan * (other(i + 1, j) - other(i - 1, j)) / (2 * dx)
    wet = np.arange(grid.shape[2]) < grid.levels_u[..., None]
    return viscosity * np.where(wet, result, 0)


def gradient(grid, q):
    """Of values at T points, at U points with water."""
    q, result = At(grid, q), np.zeros((2, *q.shape))
    for i, j in np.argwhere(grid.levels_u > 0):
        result[0, i, j] = (q(i + 1, j) - q(i, j) + q(i + 1, j + 1) - q(i, j + 1)) / (2 * grid.dx_u[j])
        result[1, i, j] = (q(i, j + 1) - q(i, j) + q(i + 1, j + 1) - q(i + 1, j)) / (2 * grid.dy)
    return result


def column_solve(h, w, forces, f, dt, viscosity, wind, drag):
    """(1 + i f dt/2) w' - dt D w' = (1 - i f dt/2) w + dt forces, in a column; drag is a velocity."""
    n = len(h)
    matrix = np.diag(h * (1 + 0.5j * f * dt)).astype(complex)
    for k in range(n - 1):
        c = dt * viscosity / (0.5 * (h[k] + h[k + 1]))
        matrix[k : k + 2, k : k + 2] += np.array([[c, -c], [-c, c]])
    matrix[-1, -1] += dt * drag
    right = h * ((1 - 0.5j * f * dt) * w + dt * forces)
    right[0] += dt * wind
    return np.linalg.solve(matrix, right)


def limited(c, up, down, far):
    """The value at a face; far is None where there is no water."""
    if far is None or down == up:
        return up
    r = (up - far) / (down - up)
    bound = r * (1 - c) / c if c > 0 else np.inf * np.sign(r) if r else 0.0
    psi = max(0.0, min(1.0, (2 - c) * (1 - c) / 6 + (1 - c * c) / 6 * r, bound))
    return up + psi * (down - up)


def one_pass(q, h, flux, area, dt):
    """Along a line of cells, all with water: flux[m] between m - 1 and m, 0 at the ends; None is land."""
    m = len(q)
    amount = np.zeros(m + 1)
    for face in range(1, m):
        if flux[face] == 0 or q[face] is None or q[face - 1] is None:
            continue
        step = 1 if flux[face] > 0 else -1
        up = face - 1 if step > 0 else face
        far = up - step
        behind = q[far] if 0 <= far < m else None
        amount[face] = flux[face] * limited(abs(flux[face]) * dt / (area[up] * h[up]), q[up], q[up + step], behind)
    values, thickness = list(q), list(h)
    for cell in range(m):
        if q[cell] is not None:
            thickness[cell] = h[cell] - dt / area[cell] * (flux[cell + 1] - flux[cell])
            content = h[cell] * q[cell] - dt / area[cell] * (amount[cell + 1] - amount[cell])
            values[cell] = content / thickness[cell]
    return values, thickness


def tracer_step(grid, q, eta, eta_next, flux_x, flux_y, dt, *, x_first, diffusivity=0.0, surface=0.0):
    """Of one tracer, without vertical mixing."""
    nx, ny, nz = grid.shape
    wet = np.arange(nz) < grid.levels[..., None]
    h = np.where(wet, grid.thickness, 0.0)
    h[..., 0] += np.where(grid.levels > 0, eta, 0)
    area, first, before = grid.area, h.copy(), q.copy()
    values = q.copy()
    for axis in (0, 1) if x_first else (1, 0):
        for k in range(nz):
            for line in range(ny if axis == 0 else nx):
                at = (slice(None), line, k) if axis == 0 else (line, slice(None), k)
                water, flux = wet[at], (flux_x if axis == 0 else flux_y)[at]
                areas = np.full(nx, area[line]) if axis == 0 else area
                cells = np.arange(len(water))
                if axis == 0 and grid.periodic:  # enough of the other side for what a face reads
                    cells = np.concatenate([cells[-4:], cells, cells[:4]])
                some = [value if w else None for value, w in zip(values[at][cells], water[cells], strict=True)]
                faces = np.concatenate([[0.0], flux[cells]])
                faces[-1] = 0
                new, thick = one_pass(some, h[at][cells], faces, areas[cells], dt)
                own = slice(4, -4) if axis == 0 and grid.periodic else slice(None)
                values[at] = [0.0 if value is None else value for value in new[own]]
                h[at] = thick[own]
    up = upward(grid, flux_x, flux_y)
    up[..., 0] = 0  # the surface moves with the water
    for i, j in np.argwhere(grid.levels > 0):
        n = grid.levels[i, j]
        down = -np.append(up[i, j, :n], 0)  # along increasing level
        column, _ = one_pass(list(values[i, j, :n]), list(h[i, j, :n]), down, np.full(n, area[j]), dt)
        thickness = grid.thickness[:n].copy()
        content = np.array(column) * (h[i, j, :n] - dt / area[j] * np.diff(down))
        thickness[0] += eta_next[i, j]
        for a, b, width, distance in (
            (1, 0, grid.dy, grid.dx[j]),
            (-1, 0, grid.dy, grid.dx[j]),
            (0, 1, grid.dx_u[j], grid.dy),
            (0, -1, grid.dx_u[j - 1], grid.dy),
        ):
            both = min(n, int(At(grid, grid.levels)(i + a, j + b)))
            r, s = At(grid, before)(i + a, j + b)[:both], At(grid, first)(i + a, j + b)[:both]
            face = np.minimum(s, first[i, j, :both])
            content[:both] += dt / area[j] * diffusivity * width / distance * face * (r - before[i, j, :both])
        content[0] += dt * surface
        values[i, j, :n] = content / thickness
    return values
