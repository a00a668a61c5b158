"""A machine for plans."""

from fathometer.plan.machine_file import Machine, Rate

MACHINE = Machine(
    schema_version=1,
    name="a machine",
    nodes=4,
    cores_per_node=4,
    memory_bytes_per_node=1e9,
    triad_bytes_per_second=1e10,
    rates=(
        Rate(physics="vti", dimensions=3, order=8, points=1e6, points_per_second=4e8),
        Rate(physics="isotropic", dimensions=2, order=8, points=1e4, points_per_second=8e8),
        Rate(physics="isotropic", dimensions=2, order=8, points=1e6, points_per_second=2e8),
    ),
    network_latency_seconds=1e-5,
    network_bytes_per_second=1e9,
    read_bytes_per_second=1e8,
    write_bytes_per_second=1e8,
    storage_bytes_per_second=2e8,
    start_seconds=1.0,
    finish_seconds=2.0,
)
