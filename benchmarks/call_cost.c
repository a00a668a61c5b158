// What a call of MPI costs that does nothing: nanoseconds of MPI_Send to no rank, and of a read of the clock, the least of
// many samples; argv[1] samples of 1000.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum { CALLS = 1000 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

static unsigned long long read_clock(void) {
#if defined(__x86_64__)
    return __rdtsc();
#else
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_nsec;
#endif
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    const int samples = atoi(words[1]);
    double call = 1, clock = 1;
    unsigned long long kept = 0;
    char byte = 0;
    for (int n = 0; n < samples; ++n) {
        double begin = now();
        for (int k = 0; k < CALLS; ++k)
            MPI_Send(&byte, 1, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
        double end = now();
        if (end - begin < call)
            call = end - begin;
        begin = now();
        for (int k = 0; k < CALLS; ++k)
            kept += read_clock();
        end = now();
        if (end - begin < clock)
            clock = end - begin;
    }
    printf("%.3f %.3f %llu\n", 1e9 * call / CALLS, 1e9 * clock / CALLS, kept & 1);
    MPI_Finalize();
    return 0;
}
