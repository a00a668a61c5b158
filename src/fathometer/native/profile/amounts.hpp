// What the expressions of functions.toml are made of. Part of recorder.cpp, after `real`.

#include "handles.hpp"

// Bytes of `count` elements.
static std::uint64_t bytes(MPI_Count count, MPI_Datatype type) {
    if (count <= 0 || type == MPI_DATATYPE_NULL)
        return 0;
    int size = 0;
    real.MPI_Type_size(type, &size);
    if (size >= 0) [[likely]]
        return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
    MPI_Count large = 0; // of more than 2 GiB
    real.MPI_Type_size_x(type, &large);
    return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(large);
}

// Bytes of `n` counts of elements of one type, or of one type each.
template <class Count> static std::uint64_t total(const Count *counts, MPI_Datatype type, std::uint64_t n) {
    std::uint64_t all = 0;
    for (std::uint64_t k = 0; k < n; ++k)
        all += static_cast<std::uint64_t>(counts[k]);
    return all * bytes(1, type);
}
template <class Count> static std::uint64_t total(const Count *counts, const MPI_Datatype *types, std::uint64_t n) {
    std::uint64_t all = 0;
    for (std::uint64_t k = 0; k < n; ++k)
        all += bytes(counts[k], types[k]);
    return all;
}

// Roles in a collective call with a root; between groups the root says MPI_ROOT and its side MPI_PROC_NULL.
static bool at_root(const Communicator &in, int root) { return in.between ? root == MPI_ROOT : root == in.me; }
static bool below_root(const Communicator &in, int root) { return in.between ? root >= 0 : root != in.me; }
static bool sends(const Communicator &in, int root) { return !in.between || root >= 0; }

static bool given(const void *buffer) { return buffer != MPI_IN_PLACE; }

// Bytes that a call has received, or a file has taken or given.
static std::uint64_t received(const MPI_Status &status) {
    MPI_Count count = 0;
    real.MPI_Get_elements_x(&status, MPI_BYTE, &count);
    return count > 0 ? static_cast<std::uint64_t>(count) : 0;
}

// With --wait: ranks meet before a collective call in which they would wait for each other.
static void meet(Call &call, MPI_Comm in) {
    if (!waiting)
        return;
    const std::uint64_t begin = ticks();
    real.MPI_Barrier(in);
    call.waited(begin, ticks());
}
