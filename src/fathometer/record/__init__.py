"""The record of a run is put together here: envelope, ledgers of all ranks, machine, resource usage, trace,
roofline."""
