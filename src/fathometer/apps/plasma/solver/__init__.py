"""The gyrokinetic equations on a rank: grids, layouts of the ranks, fields, rates, steps in time."""
