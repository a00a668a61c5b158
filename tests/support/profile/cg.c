// Conjugate gradients for the Laplacian on a line of argv[1] cells a rank, argv[2] steps: two sums of 8 B and the halo of
// one cell to each side in every step.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size, n;

static double dot(const double *a, const double *b) {
    double own = 0, all;
    for (int i = 1; i <= n; ++i)
        own += a[i] * b[i];
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void apply(double *x, double *y) {
    const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(&x[1], 1, MPI_DOUBLE, left, 0, &x[n + 1], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&x[n], 1, MPI_DOUBLE, right, 1, &x[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i <= n; ++i)
        y[i] = 2 * x[i] - x[i - 1] - x[i + 1];
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    n = atoi(words[1]);
    const int steps = atoi(words[2]);
    double *x = calloc(n + 2, 8), *r = calloc(n + 2, 8), *p = calloc(n + 2, 8), *q = calloc(n + 2, 8);
    for (int i = 1; i <= n; ++i)
        r[i] = p[i] = 1;
    double before = dot(r, r);
    for (int step = 0; step < steps; ++step) {
        apply(p, q);
        const double a = before / dot(p, q);
        for (int i = 1; i <= n; ++i) {
            x[i] += a * p[i];
            r[i] -= a * q[i];
        }
        const double now = dot(r, r);
        for (int i = 1; i <= n; ++i)
            p[i] = r[i] + now / before * p[i];
        before = now;
    }
    if (rank == 0)
        printf("%.17g\n", sqrt(before));
    MPI_Finalize();
    return 0;
}
