"""How ranks are started: mpirun, supervision of its ranks, Slurm. Nothing here imports mpi4py."""
