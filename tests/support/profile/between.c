// Sums that are scattered between two groups: {0} and all others. Both sides give 12 integers. Counted by hand in
// tests/lab/profile/test_counts.py, for 3 ranks.
#include <mpi.h>

int main(int count, char **words) {
    MPI_Init(&count, &words);
    int rank, numbers[12] = {0}, sums[12];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm own, between;
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 0, &between);
    // As many counts as the own group has processes; what is behind them must not be read.
    const int alone[] = {12, 1000}, two[] = {4, 8, 1000};
    MPI_Reduce_scatter(numbers, sums, rank > 0 ? two : alone, MPI_INT, MPI_SUM, between);
    MPI_Reduce_scatter_block(numbers, sums, rank > 0 ? 6 : 12, MPI_INT, MPI_SUM, between);
    MPI_Comm_free(&between);
    MPI_Comm_free(&own);
    MPI_Finalize();
    return 0;
}
