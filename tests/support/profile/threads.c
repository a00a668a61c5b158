// Threads that all send to themselves at once, more than once one after the other: argv[1] threads at a time, in argv[2]
// generations, argv[3] messages each.
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static int messages;

static void *work(void *number) {
    const int tag = (int)(intptr_t)number;
    char out[40] = {0}, in[40];
    for (int n = 0; n < messages; ++n)
        MPI_Sendrecv(out, 40, MPI_CHAR, 0, tag, in, 40, MPI_CHAR, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    return NULL;
}

int main(int count, char **words) {
    int provided;
    MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        return 7;
    const int threads = atoi(words[1]), generations = atoi(words[2]);
    messages = atoi(words[3]);
    pthread_t *made = calloc(threads, sizeof *made);
    for (int g = 0; g < generations; ++g) {
        for (int n = 0; n < threads; ++n)
            pthread_create(&made[n], NULL, work, (void *)(intptr_t)n);
        for (int n = 0; n < threads; ++n)
            pthread_join(made[n], NULL);
    }
    MPI_Finalize();
    return 0;
}
