"""The record of a run: its envelope, accounts of ranks, machine, usage, trace, roofline."""
