/* A plugin that is linked with MPI. */
#include <mpi.h>

int begin_and_end(void) {
    MPI_Init(NULL, NULL);
    return MPI_Finalize();
}
