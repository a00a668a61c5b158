// Counts the calls of one MPI, whose mpi.h this is compiled with; its functions are found by the preloaded library
// (dispatch.cpp), so that this one needs no library of MPI to be linked to.

#include "recorder.hpp"

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include "state.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace fathometer::profile {

struct Wrapper {
    int number;
    const char *name;
    void **real;
    void *wrapper;
};

static std::uint32_t table_checksum;
static bool functions_missed;
static Progress progress = Progress::None;
static void begin(Call &call);
static void session_begun() {
    if (progress == Progress::None)
        progress = Progress::Session;
}
static void aborted(int code) { end_file(ABORTED, code); }
static void finalizing() { end_file(FINALIZED, 0); }

#include WRAPPERS

// After MPI_Init: rank and size are known. Calls no collective function: other ranks may not be listened to.
static void begin(Call &call) {
    int rank = 0, length = 0;
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    real.MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    real.MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    real.MPI_Comm_group(MPI_COMM_WORLD, &world_group);
    real.MPI_Get_library_version(version, &length);
    if (!create_file(rank, world_size, version, table_checksum, functions_missed))
        return;
    progress = Progress::Counted;
    header->init_begin = call.began();
    header->init_end = call.ended();
    real.MPI_Query_thread(&header->thread_level);
    Thread &thread = this_thread();
    create_block(thread);
    if (thread.block == nullptr)
        return;
    thread.block->main = 1;
    running = true;
    find_communicator(MPI_COMM_WORLD);
}

} // namespace fathometer::profile

extern "C" __attribute__((visibility("default"))) void
fathometer_profile_begin(void **targets, int functions, std::uint32_t checksum, bool newer_calls) {
    using namespace fathometer::profile;
    table_checksum = checksum;
    functions_missed = newer_calls;
    by_counter = counter_is_steady(); // before the first call is timed
    for (const Wrapper &each : wrapper_list) {
        if (each.number >= functions || targets[each.number] == nullptr)
            continue; // of a newer header than this MPI
        *each.real = targets[each.number];
    }
    for (const Wrapper &each : wrapper_list)
        if (each.number < functions && targets[each.number] != nullptr)
            targets[each.number] = each.wrapper;
}

extern "C" __attribute__((visibility("default"))) fathometer::profile::Progress fathometer_profile_progress() {
    return fathometer::profile::progress;
}
