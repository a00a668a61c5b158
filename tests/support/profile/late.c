/* late [MILLISECONDS]: rank 0 comes so much later to a barrier in which the others wait. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **words) {
    int rank;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        usleep(1000 * (count > 1 ? atoi(words[1]) : 0));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
