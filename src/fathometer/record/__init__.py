"""The record of a run: envelope, ledgers of all ranks, machine, resource usage, trace, roofline."""
