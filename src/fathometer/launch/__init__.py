"""Start of MPI ranks: mpirun and its supervision, Slurm batch scripts. Nothing here imports mpi4py."""
