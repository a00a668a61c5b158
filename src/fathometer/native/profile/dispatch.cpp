// The library that is preloaded: functions of MPI 3.1, and the decision where all of them lead. In a process that never
// loads an MPI it does nothing.

#include "dispatch.hpp"

#include "recorder.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {
void *target(int number);
}

#include "dispatch_3.inc"

namespace {

using fathometer::profile::Begin;
using fathometer::profile::Progress;
using fathometer::profile::ProgressOf;
using Dlsym = void *(*)(void *, const char *) noexcept;

constexpr off_t LARGEST_SEEN = 1 << 16; // bytes of what processes without counts leave together

void *targets[FATHOMETER_FUNCTIONS];
pthread_once_t resolved = PTHREAD_ONCE_INIT;
ProgressOf progress_of = nullptr;
bool linked = false; // an MPI was there when the program began

// The system's dlsym, which stands behind ours in the order of search. Its versions: since glibc 2.34, and before.
Dlsym system_dlsym() {
    static std::atomic<Dlsym> known{nullptr};
    Dlsym found = known.load(std::memory_order_relaxed);
    for (const char *version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.27"})
        if (found == nullptr)
            found = reinterpret_cast<Dlsym>(dlvsym(RTLD_NEXT, "dlsym", version));
    known.store(found, std::memory_order_relaxed);
    return found;
}

void *symbol(void *handle, const char *name) { return system_dlsym()(handle, name); }

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

const char *file_name(const char *path) {
    const char *slash = std::strrchr(path, '/');
    return slash == nullptr ? path : slash + 1;
}

bool is_mpi(const char *path) {
    const char *name = file_name(path);
    return std::strncmp(name, "libmpi", 6) == 0 && std::strstr(name, "fathometer") == nullptr;
}

int look(dl_phdr_info *info, std::size_t, void *found) {
    if (!is_mpi(info->dlpi_name))
        return 0;
    void *handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr)
        return 0;
    auto *library = static_cast<Library *>(found);
    // Through a library of Fortran's interface too: what it needs is searched with it.
    if (symbol(handle, "PMPI_Init") == nullptr) {
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
        targets[n] = symbol(library.handle, name);
    }
    if (std::getenv("FATHOMETER_PROFILE") == nullptr)
        return;
    const bool open_mpi = symbol(library.handle, "ompi_mpi_comm_world") != nullptr;
    const bool mpich =
        symbol(library.handle, "MPIR_Dup_fn") != nullptr || symbol(library.handle, "MPIR_F_TRUE") != nullptr;
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
    const auto begin = reinterpret_cast<Begin>(symbol(counting, "fathometer_profile_begin"));
    progress_of = reinterpret_cast<ProgressOf>(symbol(counting, "fathometer_profile_progress"));
    const bool listened = symbol(RTLD_DEFAULT, "fathometer_profile_listens_to_4") != nullptr;
    begin(targets, FATHOMETER_FUNCTIONS, FATHOMETER_CHECKSUM,
          !listened && symbol(library.handle, "PMPI_Send_c") != nullptr);
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

__attribute__((constructor)) void remember_whether_linked() {
    Library library = {};
    dl_iterate_phdr(look, &library);
    linked = library.handle != nullptr;
}

// A line of a process that had an MPI and counted nothing (lab/profile/uncounted.py reads it).
__attribute__((destructor)) void leave_what_was_seen() {
    const char *folder = std::getenv("FATHOMETER_PROFILE");
    const Progress progress = progress_of == nullptr ? Progress::None : progress_of();
    if (folder == nullptr || progress == Progress::Counted)
        return;
    Library library = {};
    dl_iterate_phdr(look, &library);
    if (library.handle == nullptr)
        return;
    int begun = 0; // may be asked at any time
    if (const auto initialized = reinterpret_cast<int (*)(int *)>(symbol(library.handle, "PMPI_Initialized")))
        initialized(&begun);
    char path[4096], program[4096] = "", line[9000];
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0)
        return;
    std::snprintf(path, sizeof path, "%s/seen.txt", folder);
    const bool unheard = symbol(library.handle, "PMPI_Session_init") != nullptr &&
                         symbol(RTLD_DEFAULT, "fathometer_profile_listens_to_4") == nullptr;
    const char *state = progress == Progress::Session ? "session"
                        : begun != 0                  ? "begun"
                        : unheard                     ? "unheard"
                                                      : "unused";
    std::snprintf(line, sizeof line, "%s\t%s\t%s\t%s\n", linked ? "linked" : "loaded", state, program, library.path);
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    struct stat entry = {};
    if (file < 0)
        return;
    if (fstat(file, &entry) == 0 && entry.st_size < LARGEST_SEEN && write(file, line, std::strlen(line)) < 0) {
        // then nothing is told
    }
    close(file);
}

// What a program that has loaded MPI by itself gets: our function in the place of MPI's.
void *listening(void *handle, const char *name) {
    void *const real = symbol(handle, name);
    Dl_info from = {}, ours = {};
    if (real == nullptr || dladdr(real, &from) == 0 || !is_mpi(from.dli_fname))
        return real;
    void *const own = symbol(RTLD_DEFAULT, name);
    const bool found = own != nullptr && dladdr(own, &ours) != 0;
    return found && std::strncmp(file_name(ours.dli_fname), "libprofile", 10) == 0 ? own : real;
}

} // namespace

// The loader looks at who asks for the next symbol of a name: such a question is passed on by a jump, as if the
// system's function had been called.
extern "C" FATHOMETER_EXPORT void *dlsym(void *__restrict handle, const char *__restrict name) noexcept {
    if (handle != RTLD_NEXT && handle != RTLD_DEFAULT && name != nullptr &&
        (std::strncmp(name, "MPI_", 4) == 0 || std::strncmp(name, "PMPI_", 5) == 0)) [[unlikely]]
        return listening(handle, name);
    return system_dlsym()(handle, name);
}

void *fathometer_profile_target(int number) { return target(number); }
