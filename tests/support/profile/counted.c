// Calls of which every count and byte is known beforehand, on any number of ranks from 2. Counted by hand in
// tests/lab/profile/test_counts.py.
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **words) {
    const char *end = count > 1 ? words[1] : "finalize";
    MPI_Init(&count, &words);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *data = calloc(8192, sizeof(double)), *more = calloc(8192 * size, sizeof(double));
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;

    for (int n = 0; n < 10; ++n) { // 10 messages of 800 B
        if (rank == 0)
            MPI_Send(data, 100, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        if (rank == 1) // room for more than comes
            MPI_Recv(more, 8192, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Send(data, 5, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD); // no message
    MPI_Request requests[2];
    MPI_Irecv(more, 1000, MPI_INT, before, 1, MPI_COMM_WORLD, &requests[0]); // 4000 B around a ring
    MPI_Isend(data, 1000, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Send_init(data, 3, MPI_DOUBLE, next, 2, MPI_COMM_WORLD, &requests[0]); // counted at their 5 starts
    MPI_Recv_init(more, 3, MPI_DOUBLE, before, 2, MPI_COMM_WORLD, &requests[1]);
    for (int n = 0; n < 5; ++n) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);

    for (int n = 0; n < 7; ++n)
        MPI_Allreduce(data, more, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(data, 4096, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Gather(data, 10, MPI_INT, more, 10, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, more, 2, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Alltoall(data, 3, MPI_INT, more, 3, MPI_INT, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Comm turned; // its rank 0 is the last of the world
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    MPI_Comm_set_name(turned, "turned");
    if (rank == size - 1)
        MPI_Send(data, 64, MPI_CHAR, size - 1, 3, turned); // to rank 0 of the world
    if (rank == 0)
        MPI_Recv(data, 64, MPI_CHAR, 0, 3, turned, MPI_STATUS_IGNORE);
    MPI_Comm_free(&turned);

    MPI_Win window;
    MPI_Win_create(more, 8192, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(data, 16, MPI_DOUBLE, next, 0, 128, MPI_CHAR, window); // 128 B
    MPI_Win_fence(0, window);
    MPI_Get(data, 8, MPI_DOUBLE, before, 0, 8, MPI_DOUBLE, window); // 64 B
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);

    if (count > 2) { // a file of which each rank writes and reads 256 B
        MPI_File file;
        MPI_File_open(MPI_COMM_WORLD, words[2], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        MPI_File_write_at_all(file, 256 * rank, data, 32, MPI_DOUBLE, MPI_STATUS_IGNORE);
        MPI_File_read_at(file, 256 * rank, data, 32, MPI_DOUBLE, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(end, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (strcmp(end, "exit") == 0)
        exit(0);
    if (strcmp(end, "_exit") == 0)
        _exit(0);
    if (strcmp(end, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(end, "segv") == 0)
        raise(SIGSEGV);
    if (strcmp(end, "term") == 0)
        kill(getpid(), SIGTERM);
    while (strcmp(end, "forever") == 0)
        sleep(1);
    if (strcmp(end, "receive") == 0 && rank == 0) { // killed in a call that never ends
        alarm(1);
        MPI_Recv(data, 1, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(data);
    free(more);
    MPI_Finalize();
    return 0;
}
