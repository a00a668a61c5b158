"""Run by test_barotropic_ranks.py under mpirun: exchanges of halos of blocks cut in many ways, and solves with all
solvers, all on every number of ranks. Prints a line of JSON from rank 0: digests of solutions, and what went wrong.
"""

import hashlib
import itertools
import json
import os

if __name__ == "__main__":  # and not in the tests, which import the cuttings
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ["OMPI_MCA_mpi_yield_when_idle"] = "1"  # noqa: SIM112  else its sums keep a core from whoever is late

import numpy as np
from barotropic_support import GRAVITY, IMPLICITNESS, STEP, layout_of, whole, world
from mpi4py import MPI

from fathometer.apps.ocean.barotropic.halo import BlockHalo
from fathometer.apps.ocean.barotropic.solver import BarotropicSolver

CUTTINGS = {
    1: [{}, {"blocks": (16, 8)}, {"blocks": (8, 8), "order": "grid"}],
    2: [{}, {"ranks": (1, 2)}, {"ranks": (2, 1)}, {"blocks": (16, 8)}],
    3: [{"ranks": (3, 1)}, {"blocks": (8, 8)}],
    4: [{"ranks": (2, 2)}, {"ranks": (1, 4)}, {"blocks": (16, 16), "order": "grid"}],
}


def wrong_halos(comm):
    """Exchanged halos are cut out of a global array; cells that no block owns stay as they were."""
    random = np.random.default_rng(4)
    wrong = []
    for periodic, tile in itertools.product((True, False), (2, 8)):
        # With tiles of 2 cells halos reach over blocks; an island of 20 x 12 cells leaves blocks out.
        levels = np.ones((27, 31), int)
        levels[4:24, 8:20] = 0
        grid = world(27, 31, periodic=periodic, levels=levels)
        values = [random.standard_normal((27, 31, *more)) for more in ((), (3,), (2, 2))]
        for blocks in ((tile, tile), (8, 16), (100, 100)):
            if blocks == (100, 100) and comm.size > 1:
                continue
            layout = layout_of(grid, comm.size, comm.rank, tile=tile, blocks=blocks)
            kept = np.ones((27, 31), bool)
            for lo, hi in layout.left_out:
                kept[lo[0] : hi[0], lo[1] : hi[1]] = False
            for widths in ((1, 3, 2), (3, 1, 1)):
                arrays = [np.full(layout.shaped(*v.shape[2:]), -9.0) for v in values]
                expected = []
                for n, (value, width) in enumerate(zip(values, widths, strict=True)):
                    cells = kept.reshape(kept.shape + (1,) * (value.ndim - 2))
                    wanted = layout.blocked(np.where(cells, value, -9.0), fill=-9.0)
                    for k in range(len(layout.own)):
                        layout.owned(arrays[n], k)[:] = layout.owned(wanted, k)
                        x, y = layout.extents[k] + 3
                        inside = wanted[k, 3 - width : x + width, 3 - width : y + width].copy()
                        wanted[k] = -9.0
                        wanted[k, 3 - width : x + width, 3 - width : y + width] = inside
                    expected.append(wanted)
                halo = BlockHalo(layout, comm, list(zip(arrays, widths, strict=True)))
                for turn in range(2):
                    if turn:
                        halo.start()
                        halo.test()
                        halo.wait()
                    else:
                        halo.exchange()
                    if not all(map(np.array_equal, arrays, expected)):
                        wrong.append([periodic, tile, blocks, widths, turn])
                    for array, wanted in zip(arrays, expected, strict=True):
                        array *= 2 - turn
                        wanted *= 2 - turn
                if comm.size == 1 and halo.bytes_sent:
                    wrong.append("bytes sent")
                halo.close()
    return wrong


def solutions(comm):
    """Digests of solutions; errors of those with MPI's sums."""
    grid = world(40, 40)
    random = np.random.default_rng(5)
    rhs, eta, start = (values * (grid.levels > 0) for values in random.standard_normal((3, 40, 40)))
    rhs *= grid.area
    reference = {}
    digests, errors = {}, {}
    for number, cutting in enumerate(CUTTINGS[comm.size]):
        layout = layout_of(grid, comm.size, comm.rank, **cutting)
        for sums, name, preconditioner in itertools.product(
            ("exact", "mpi"), ("pcg", "chronopoulos-gear", "pipelined"), ("diagonal", "block")
        ):
            solver = BarotropicSolver(
                layout, comm, grid, solver=name, preconditioner=preconditioner, sums=sums, replace_every=15
            )
            solver.coefficients(layout.blocked(eta), 4 * STEP, IMPLICITNESS, GRAVITY)
            x = layout.blocked(start)
            done = solver.solve(layout.blocked(rhs), x)
            solution = whole(layout, comm, x)
            solver.close()
            key = f"{name} {preconditioner}"
            if sums == "exact":
                text = f"{done}".encode() + solution.tobytes()
                digests[f"{key} {number}"] = hashlib.sha256(text).hexdigest()
                reference[key] = solution
            else:
                scale = np.abs(reference[key]).max() or 1.0
                errors[f"{key} {number}"] = float(np.abs(solution - reference[key]).max() / scale)
            if not done.converged:
                errors[f"{key} {number} {sums}"] = 1.0
    return digests, errors


def with_ranks_without_water(comm):
    """Digest of a solution where the first of several ranks have nothing to do; how many these are."""
    levels = np.ones((32, 24), int)
    levels[:16] = 0
    grid = world(32, 24, levels=levels)
    layout = layout_of(grid, comm.size, comm.rank, ranks=(comm.size, 1))
    solver = BarotropicSolver(layout, comm, grid, sums="exact")
    solver.coefficients(np.zeros(layout.shaped()), STEP, IMPLICITNESS, GRAVITY)
    x = np.zeros(layout.shaped())
    done = solver.solve(layout.blocked(np.random.default_rng(6).standard_normal((32, 24))), x)
    text = str(done).encode() + whole(layout, comm, x).tobytes()
    solver.close()
    return hashlib.sha256(text).hexdigest(), comm.allreduce(int(not layout.own))


def main():
    comm = MPI.COMM_WORLD
    wrong = comm.gather(wrong_halos(comm))
    digests, errors = solutions(comm)
    digests["without water 0"], idle = with_ranks_without_water(comm)
    if comm.rank == 0:
        flat = [one for some in wrong for one in some]
        print(json.dumps({"wrong halos": flat, "digests": digests, "errors": errors, "idle": idle}))


if __name__ == "__main__":
    main()
