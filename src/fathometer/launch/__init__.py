"""MPI ranks are started from here, by mpirun, srun or a Slurm batch script, and looked after; nothing here imports
mpi4py."""
