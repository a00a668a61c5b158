// The library that is preloaded: functions of MPI 3.1, and the decision where all of them lead. In a process that never
// calls MPI it does nothing.

#include "dispatch.hpp"

#include "recorder.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

namespace {
void *target(int number);
}

#include "dispatch_3.inc"

namespace {

using fathometer::profile::Begin;

void *targets[FATHOMETER_FUNCTIONS];
pthread_once_t resolved = PTHREAD_ONCE_INIT;

// A line for people, in the profile's folder, where the command finds it, and on standard error.
[[noreturn]] void give_up(const char *why) {
    const char *folder = std::getenv("FATHOMETER_PROFILE");
    char path[4096];
    std::snprintf(path, sizeof path, "%s/problem.txt", folder);
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) {
        if (write(file, why, std::strlen(why)) < 0) { // then it stands on standard error alone
        }
        close(file);
    }
    std::fprintf(stderr, "fathometer profile: %s\n", why);
    _exit(1);
}

// The MPI library of this process: the first that has PMPI_Init and is not this one.
struct Library {
    char path[4096];
    void *handle;
};

int look(dl_phdr_info *info, std::size_t, void *found) {
    const char *name = std::strrchr(info->dlpi_name, '/');
    name = name == nullptr ? info->dlpi_name : name + 1;
    if (std::strncmp(name, "libmpi", 6) != 0 || std::strstr(name, "fathometer") != nullptr)
        return 0;
    void *handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr)
        return 0;
    auto *library = static_cast<Library *>(found);
    // Through a library of Fortran's interface too: what it needs is searched with it.
    if (dlsym(handle, "PMPI_Init") == nullptr) {
        dlclose(handle);
        return 0;
    }
    std::snprintf(library->path, sizeof library->path, "%s", info->dlpi_name);
    library->handle = handle;
    return 1;
}

void resolve() {
    Library library = {};
    dl_iterate_phdr(look, &library);
    if (library.handle == nullptr) {
        // Linked into the program itself or under a strange name: behind us in the order of search.
        library.handle = RTLD_NEXT;
        std::snprintf(library.path, sizeof library.path, "the program");
    }
    for (int n = 0; n < FATHOMETER_FUNCTIONS; ++n) {
        char name[128];
        std::snprintf(name, sizeof name, "P%s", function_names[n]);
        targets[n] = dlsym(library.handle, name);
    }
    if (std::getenv("FATHOMETER_PROFILE") == nullptr)
        return;
    const bool open_mpi = dlsym(library.handle, "ompi_mpi_comm_world") != nullptr;
    const bool mpich =
        dlsym(library.handle, "MPIR_Dup_fn") != nullptr || dlsym(library.handle, "MPIR_F_TRUE") != nullptr;
    char why[9000], path[4200];
    if (!open_mpi && !mpich) {
        std::snprintf(why, sizeof why, "%s: found an MPI that is neither Open MPI nor MPICH; allowed: one of these",
                      library.path);
        give_up(why);
    }
    Dl_info own = {};
    dladdr(reinterpret_cast<void *>(&resolve), &own);
    const char *slash = std::strrchr(own.dli_fname, '/');
    std::snprintf(path, sizeof path, "%.*s/libprofile_%s.so", static_cast<int>(slash - own.dli_fname), own.dli_fname,
                  open_mpi ? "openmpi" : "mpich");
    if (access(path, R_OK) != 0) {
        std::snprintf(why, sizeof why,
                      "this build has no profile of %s programs; needed: its headers (Debian: %s), then make build",
                      open_mpi ? "Open MPI" : "MPICH", open_mpi ? "libopenmpi-dev" : "libmpich-dev");
        give_up(why);
    }
    // The counting library refers to data of that MPI, which Python, for one, loads for itself alone.
    dlopen(library.path, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
    void *counting = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (counting == nullptr) {
        std::snprintf(why, sizeof why, "%s", dlerror());
        give_up(why);
    }
    const auto begin = reinterpret_cast<Begin>(dlsym(counting, "fathometer_profile_begin"));
    const bool listened = dlsym(RTLD_DEFAULT, "fathometer_profile_listens_to_4") != nullptr;
    begin(targets, FATHOMETER_FUNCTIONS, FATHOMETER_CHECKSUM,
          !listened && dlsym(library.handle, "PMPI_Send_c") != nullptr);
}

void *target(int number) {
    if (targets[number] == nullptr) [[unlikely]] {
        pthread_once(&resolved, resolve);
        if (targets[number] == nullptr) {
            std::fprintf(stderr, "fathometer profile: %s: not in this program's MPI\n", function_names[number]);
            std::abort();
        }
    }
    return targets[number];
}

} // namespace

void *fathometer_profile_target(int number) { return target(number); }
