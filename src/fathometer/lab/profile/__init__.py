"""`fathometer profile` tells what a program does with MPI, counted by a preloaded library (native/profile/)."""
