! The same few calls through each of MPI's three interfaces for Fortran: INTERFACE is 1 (mpif.h), 2 (use mpi) or 3 (use
! mpi_f08). Counted by hand in tests/lab/profile/test_counts.py.
program counted
#if INTERFACE == 2
  use mpi
#elif INTERFACE == 3
  use mpi_f08
#endif
  implicit none
#if INTERFACE == 1
  include 'mpif.h'
#endif
#if INTERFACE == 3
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status
#define ANY_STATUS status
#else
  integer :: requests(2)
  integer :: status(MPI_STATUS_SIZE)
#define ANY_STATUS status
#endif
  integer :: rank, ranks, error, n
  double precision :: values(1000), sums(1000)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  values = rank
  do n = 1, 4 ! 4 messages of 800 B
    if (rank == 0) call MPI_Send(values, 100, MPI_DOUBLE_PRECISION, 1, 5, MPI_COMM_WORLD, error)
    if (rank == 1) call MPI_Recv(sums, 1000, MPI_DOUBLE_PRECISION, 0, 5, MPI_COMM_WORLD, ANY_STATUS, error)
  end do
  call MPI_Irecv(sums, 10, MPI_INTEGER, mod(rank + ranks - 1, ranks), 6, MPI_COMM_WORLD, requests(1), error)
  call MPI_Isend(values, 10, MPI_INTEGER, mod(rank + 1, ranks), 6, MPI_COMM_WORLD, requests(2), error)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  do n = 1, 3
    call MPI_Allreduce(values, sums, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  end do
  call MPI_Bcast(values, 1000, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program counted
