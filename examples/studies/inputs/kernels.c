/* Small MPI kernels, to see what a network does to programs: each prints the seconds of its loop and of its reductions,
 * those of one step of the median batch, and the messages and bytes that went from one host to another.
 *
 *     kernels cg CELLS REPEATS          conjugate gradients: Poisson's equation on a cube, a slab for each rank
 *     kernels halo CELLS REPEATS        its halo exchange alone
 *     kernels transpose CELLS REPEATS   all-to-all of a cube, as spectral codes transpose
 *     kernels allreduce CELLS REPEATS   sums of 8 bytes; CELLS is not used
 *     kernels barrier CELLS REPEATS     barriers, counted as sums; CELLS is not used
 *
 * A batch is REPEATS steps. One more argument, SECONDS, makes batches until so many seconds have passed: the median
 * batch does not mind those in which another program had the core.
 *
 * A. Greenbaum, Iterative Methods for Solving Linear Systems, SIAM 1997, algorithm 2 (conjugate gradients).
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size, cells, planes; /* planes: of this rank, without the two of its neighbours */
static int below, above;              /* neighbours, MPI_PROC_NULL at the ends */
static double *other;                 /* 1 for each rank on another host, else 0 */
static double sums_seconds, messages, bytes;
enum { MOST_BATCHES = 10000 };

static double *field(void) {
    double *values = calloc((size_t)(planes + 2) * cells * cells, sizeof(double));
    if (!values)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return values;
}

static void count(int to, double amount) {
    if (to != MPI_PROC_NULL && other[to] > 0) {
        messages += 1;
        bytes += amount;
    }
}

static void exchange(double *u) {
    int plane = cells * cells;
    MPI_Request requests[4];
    MPI_Irecv(u, plane, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(u + (size_t)(planes + 1) * plane, plane, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(u + plane, plane, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(u + (size_t)planes * plane, plane, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    count(below, 8.0 * plane);
    count(above, 8.0 * plane);
}

static double sum(double own) {
    double all, begin = MPI_Wtime();
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sums_seconds += MPI_Wtime() - begin;
    return all;
}

static double dot(const double *u, const double *v) {
    size_t plane = (size_t)cells * cells;
    double total = 0;
    for (size_t i = plane; i < (planes + 1) * plane; i++)
        total += u[i] * v[i];
    return sum(total);
}

/* v = A u: six times a cell less its six neighbours, which are 0 outside the cube. */
static void apply(double *u, double *v) {
    size_t plane = (size_t)cells * cells;
    exchange(u);
    for (int z = 1; z <= planes; z++)
        for (int y = 0; y < cells; y++)
            for (int x = 0; x < cells; x++) {
                size_t i = z * plane + (size_t)y * cells + x;
                double value = 6 * u[i] - u[i - plane] - u[i + plane];
                value -= (x ? u[i - 1] : 0) + (x < cells - 1 ? u[i + 1] : 0);
                value -= (y ? u[i - cells] : 0) + (y < cells - 1 ? u[i + cells] : 0);
                v[i] = value;
            }
}

/* Whether so many steps have reduced the residual. taken: how many these were, fewer where it vanished before. */
static int conjugate_gradients(int repeats, int *taken) {
    size_t plane = (size_t)cells * cells;
    double *x = field(), *r = field(), *p = field(), *q = field();
    for (size_t i = plane; i < (planes + 1) * plane; i++)
        r[i] = p[i] = 1;
    double first = dot(r, r), rho = first;
    int step = 0;
    for (; step < repeats && rho > 1e-24 * first; step++) {
        apply(p, q);
        double alpha = rho / dot(p, q);
        for (size_t i = plane; i < (planes + 1) * plane; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        double next = dot(r, r), beta = next / rho;
        rho = next;
        for (size_t i = plane; i < (planes + 1) * plane; i++)
            p[i] = r[i] + beta * p[i];
    }
    free(x), free(r), free(p), free(q);
    *taken = step;
    return rho < first;
}

/* Whether the planes next to this rank's are the neighbours'. */
static int halos(int repeats) {
    size_t plane = (size_t)cells * cells;
    double *u = field();
    for (size_t i = plane; i < (planes + 1) * plane; i++)
        u[i] = rank;
    for (int step = 0; step < repeats; step++)
        exchange(u);
    int right =
        (below == MPI_PROC_NULL || u[0] == below) && (above == MPI_PROC_NULL || u[(planes + 1) * plane] == above);
    free(u);
    return right;
}

/* Whether each part comes from its rank. */
static int transposes(int repeats) {
    int part = cells * cells / size * planes;
    double *out = calloc((size_t)part * size, sizeof(double)), *in = calloc((size_t)part * size, sizeof(double));
    if (!out || !in)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < (size_t)part * size; i++)
        out[i] = rank;
    for (int step = 0; step < repeats; step++) {
        MPI_Alltoall(out, part, MPI_DOUBLE, in, part, MPI_DOUBLE, MPI_COMM_WORLD);
        for (int to = 0; to < size; to++)
            count(to, 8.0 * part);
    }
    int right = 1;
    for (int from = 0; from < size; from++)
        right = right && in[(size_t)part * from] == from && in[(size_t)part * (from + 1) - 1] == from;
    free(out), free(in);
    return right;
}

static int sums(int repeats) {
    double total = 0;
    for (int step = 0; step < repeats; step++)
        total = sum(rank);
    return total == 0.5 * size * (size - 1);
}

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time); /* one for all nodes of a cluster on one machine */
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

/* Whether nobody has left the last barrier before all had come. */
static int barriers(int repeats) {
    double came = 0, left = 0;
    for (int step = 0; step < repeats; step++) {
        came = seconds();
        MPI_Barrier(MPI_COMM_WORLD);
        left = seconds();
        sums_seconds += left - came;
    }
    double ends[2] = {came, -left}; /* the last one came, the first one left */
    MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return ends[0] <= -ends[1];
}

/* Whether a batch of a kernel had the right result. taken: its steps. */
static int batch(const char *kernel, int repeats, int *taken) {
    *taken = repeats;
    if (!strcmp(kernel, "cg"))
        return conjugate_gradients(repeats, taken);
    if (!strcmp(kernel, "halo"))
        return halos(repeats);
    if (!strcmp(kernel, "transpose"))
        return transposes(repeats);
    return !strcmp(kernel, "allreduce") ? sums(repeats) : barriers(repeats);
}

static int known(const char *kernel) {
    const char *kernels[] = {"cg", "halo", "transpose", "allreduce", "barrier"};
    for (int n = 0; n < 5; n++)
        if (!strcmp(kernel, kernels[n]))
            return 1;
    return 0;
}

static int by_size(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int enough = argc == 4 || argc == 5;
    const char *kernel = enough ? argv[1] : "";
    cells = enough ? atoi(argv[2]) : 0;
    int repeats = enough ? atoi(argv[3]) : 0;
    double wanted = argc == 5 ? atof(argv[4]) : 0;
    if (!known(kernel) || cells < size || cells > 4096 || cells % size || repeats < 1) {
        if (!rank)
            fprintf(stderr, "kernels: needs cg, halo, transpose, allreduce or barrier, CELLS (a multiple of the "
                            "ranks), REPEATS and "
                            "perhaps SECONDS\n");
        MPI_Finalize();
        return 2;
    }
    planes = cells / size;
    below = rank ? rank - 1 : MPI_PROC_NULL;
    above = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    char own[MPI_MAX_PROCESSOR_NAME] = "", *names = malloc((size_t)size * sizeof own);
    int length, right = 1;
    MPI_Get_processor_name(own, &length);
    MPI_Allgather(own, sizeof own, MPI_CHAR, names, sizeof own, MPI_CHAR, MPI_COMM_WORLD);
    other = calloc(size, sizeof(double));
    for (int to = 0; to < size; to++)
        other[to] = strcmp(own, names + to * sizeof own) ? 1 : 0;
    double loop = 0, steps[MOST_BATCHES];
    int batches = 0, more = 1;
    while (more && batches < MOST_BATCHES) {
        int taken;
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        right = batch(kernel, repeats, &taken) && right;
        double most = MPI_Wtime() - begin; /* of the slowest rank */
        MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        loop += most;
        steps[batches++] = most / taken;
        more = loop < wanted; /* the same on all ranks */
    }
    qsort(steps, batches, sizeof *steps, by_size);
    double total[2] = {messages, bytes};
    MPI_Allreduce(MPI_IN_PLACE, &sums_seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, total, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!rank) {
        printf("loop %.6f s, sums %.6f s, that is %.4f of it\n", loop, sums_seconds, sums_seconds / loop);
        printf("step %.9f s in the median of %d batches\n", steps[batches / 2], batches);
        printf("between hosts: %.0f messages, %.0f bytes\n", total[0], total[1]);
        printf("result %s\n", right ? "right" : "wrong");
    }
    free(names), free(other);
    MPI_Finalize();
    return right ? 0 : 1;
}
