/* A library to be preloaded, which makes one I/O call fail: the n-th of those that concern files below a folder.
 *
 * A call concerns the folder where its path, or the path of its descriptor when that was opened, lies below it.
 * The calls are counted in the process that arms the library, by its own threads. A call that fails does nothing, but
 * for close, which closes. Built and used by tests/support/failing_calls.py. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST_FILES = 4096, WORDS = 64 };

static char folder[PATH_MAX];
static size_t folder_length;
static long fail_at; /* 0: none, only count */
static int fail_with;
static long calls;
static int armed;
static char failed[PATH_MAX + WORDS]; /* the call that has failed: its name and path */
static int log_to = -1;               /* a descriptor: a line for each call that is counted */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *path_of[MOST_FILES]; /* of the descriptors that concern the folder */

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) \
    real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static int concerns(const char *path) { return armed && path && strncmp(path, folder, folder_length) == 0; }

/* The absolute path of a name, as far as it is to be known; NULL: unknown. */
static const char *absolute(int at, const char *path, char *buffer) {
    if (!armed || !path)
        return NULL;
    if (path[0] == '/')
        return path;
    char base[PATH_MAX];
    if (at == AT_FDCWD) {
        if (!getcwd(base, sizeof base))
            return NULL;
    } else if (at >= 0 && at < MOST_FILES && path_of[at])
        snprintf(base, sizeof base, "%s", path_of[at]);
    else
        return NULL;
    if (snprintf(buffer, PATH_MAX, "%s/%s", base, path) >= PATH_MAX)
        return NULL;
    return buffer;
}

/* Counts a call; the errno that it is to fail with, or 0. */
static int due(const char *name, const char *path) {
    if (!concerns(path))
        return 0;
    pthread_mutex_lock(&mutex);
    const int now = ++calls == fail_at;
    if (now)
        snprintf(failed, sizeof failed, "%s %s", name, path);
    if (log_to >= 0)
        dprintf(log_to, "%s %s\n", name, path);
    pthread_mutex_unlock(&mutex);
    return now ? fail_with : 0;
}

static int due_of(const char *name, int file) {
    return armed && file >= 0 && file < MOST_FILES && path_of[file] ? due(name, path_of[file]) : 0;
}

static void forget(int file) {
    if (file >= 0 && file < MOST_FILES && path_of[file]) {
        free(path_of[file]);
        path_of[file] = NULL;
    }
}

static int remember(int file, const char *path) {
    if (file >= 0 && file < MOST_FILES) {
        forget(file);
        if (concerns(path))
            path_of[file] = strdup(path);
    }
    return file;
}

void failing_calls_arm(const char *below, long at, int with, int log) {
    snprintf(folder, sizeof folder, "%s/", below);
    folder_length = strlen(folder);
    fail_at = at;
    fail_with = with;
    calls = 0;
    failed[0] = 0;
    log_to = log;
    armed = 1;
}

/* Of a process that nobody forks: FAILING_CALLS is "rank number errno folder". */
__attribute__((constructor)) static void arm_by_environment(void) {
    const char *wanted = getenv("FAILING_CALLS"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    int of, with, begin = 0;
    long at;
    if (wanted && rank && sscanf(wanted, "%d %ld %d %n", &of, &at, &with, &begin) == 3 && begin && atoi(rank) == of)
        failing_calls_arm(wanted + begin, at, with, -1);
}

/* Where FAILING_CALLS_TOLD names a file, such a process leaves there how many calls it made, and which one failed. */
__attribute__((destructor)) static void tell(void) {
    const char *told = getenv("FAILING_CALLS_TOLD");
    if (!told || !armed)
        return;
    armed = 0;
    FILE *file = fopen(told, "w");
    if (file) {
        fprintf(file, "%ld %s", calls, failed);
        fclose(file);
    }
}

void failing_calls_disarm(void) { armed = 0; }
long failing_calls_count(void) { return calls; }
const char *failing_calls_failed(void) { return failed; }

#define FAIL(value, error) \
    do { \
        const int reason = (error); \
        if (reason) { \
            errno = reason; \
            return (value); \
        } \
    } while (0)

// The mode behind the flags of an open, where there is one.
#define MODE(flags) \
    mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }

#define OPEN_AT(name) \
    int name(int at, const char *path, int flags, ...) { \
        REAL(name); \
        MODE(flags); \
        char buffer[PATH_MAX]; \
        const char *whole = absolute(at, path, buffer); \
        FAIL(-1, due("open", whole)); \
        return remember(real(at, path, flags, mode), whole); \
    }
#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(name); \
        MODE(flags); \
        char buffer[PATH_MAX]; \
        const char *whole = absolute(AT_FDCWD, path, buffer); \
        FAIL(-1, due("open", whole)); \
        return remember(real(path, flags, mode), whole); \
    }
#define FOPEN(name) \
    FILE *name(const char *path, const char *mode) { \
        REAL(name); \
        char buffer[PATH_MAX]; \
        const char *whole = absolute(AT_FDCWD, path, buffer); \
        FAIL(NULL, due("open", whole)); \
        FILE *file = real(path, mode); \
        if (file) \
            remember(fileno(file), whole); \
        return file; \
    }
#define ON_FILE(type, name, word, parameters, arguments) \
    type name parameters { \
        REAL(name); \
        FAIL(-1, due_of(word, file)); \
        return real arguments; \
    }
#define ON_PATH(name, word, parameters, arguments, at, path) \
    int name parameters { \
        REAL(name); \
        char buffer[PATH_MAX]; \
        FAIL(-1, due(word, absolute(at, path, buffer))); \
        return real arguments; \
    }

OPEN(open)
OPEN(open64)
OPEN_AT(openat)
OPEN_AT(openat64)
FOPEN(fopen)
FOPEN(fopen64)

DIR *opendir(const char *path) {
    REAL(opendir);
    char buffer[PATH_MAX];
    FAIL(NULL, due("opendir", absolute(AT_FDCWD, path, buffer)));
    return real(path);
}

ON_FILE(ssize_t, write, "write", (int file, const void *data, size_t size), (file, data, size))
ON_FILE(ssize_t, read, "read", (int file, void *data, size_t size), (file, data, size))
ON_FILE(ssize_t, pwrite, "pwrite", (int file, const void *data, size_t size, off_t at), (file, data, size, at))
ON_FILE(ssize_t, pwrite64, "pwrite", (int file, const void *data, size_t size, off64_t at), (file, data, size, at))
ON_FILE(ssize_t, pread, "pread", (int file, void *data, size_t size, off_t at), (file, data, size, at))
ON_FILE(ssize_t, pread64, "pread", (int file, void *data, size_t size, off64_t at), (file, data, size, at))
ON_FILE(ssize_t, writev, "writev", (int file, const struct iovec *v, int n), (file, v, n))
ON_FILE(ssize_t, readv, "readv", (int file, const struct iovec *v, int n), (file, v, n))
ON_FILE(ssize_t, pwritev, "pwritev", (int file, const struct iovec *v, int n, off_t at), (file, v, n, at))
ON_FILE(ssize_t, pwritev64, "pwritev", (int file, const struct iovec *v, int n, off64_t at), (file, v, n, at))
ON_FILE(ssize_t, pwritev2, "pwritev", (int file, const struct iovec *v, int n, off_t at, int f), (file, v, n, at, f))
ON_FILE(ssize_t, pwritev64v2, "pwritev", (int file, const struct iovec *v, int n, off64_t at, int f), (file, v, n, at, f))
ON_FILE(ssize_t, preadv, "preadv", (int file, const struct iovec *v, int n, off_t at), (file, v, n, at))
ON_FILE(ssize_t, preadv64, "preadv", (int file, const struct iovec *v, int n, off64_t at), (file, v, n, at))
ON_FILE(ssize_t, preadv2, "preadv", (int file, const struct iovec *v, int n, off_t at, int f), (file, v, n, at, f))
ON_FILE(ssize_t, preadv64v2, "preadv", (int file, const struct iovec *v, int n, off64_t at, int f), (file, v, n, at, f))
ON_FILE(int, fsync, "fsync", (int file), (file))
ON_FILE(int, fdatasync, "fdatasync", (int file), (file))
ON_FILE(int, ftruncate, "ftruncate", (int file, off_t size), (file, size))
ON_FILE(int, ftruncate64, "ftruncate", (int file, off64_t size), (file, size))
ON_FILE(int, flock, "flock", (int file, int operation), (file, operation))

int posix_fallocate(int file, off_t at, off_t size) {
    REAL(posix_fallocate);
    const int number = due_of("posix_fallocate", file);
    return number ? number : real(file, at, size);
}

int posix_fallocate64(int file, off64_t at, off64_t size) {
    REAL(posix_fallocate64);
    const int number = due_of("posix_fallocate", file);
    return number ? number : real(file, at, size);
}

#define FCNTL(name) \
    int name(int file, int command, ...) { \
        REAL(name); \
        va_list rest; \
        va_start(rest, command); \
        void *argument = va_arg(rest, void *); \
        va_end(rest); \
        if (command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW) \
            FAIL(-1, due_of("fcntl lock", file)); \
        const int result = real(file, command, argument); \
        if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && result >= 0 && file < MOST_FILES && path_of[file]) \
            remember(result, path_of[file]); \
        return result; \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

#define MMAP(name, offset) \
    void *name(void *where, size_t size, int protection, int flags, int file, offset at) { \
        REAL(name); \
        FAIL(MAP_FAILED, due_of("mmap", file)); \
        return real(where, size, protection, flags, file, at); \
    }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

ON_PATH(rename, "rename", (const char *from, const char *to), (from, to), AT_FDCWD, from)
ON_PATH(renameat, "rename", (int at, const char *from, int to_at, const char *to), (at, from, to_at, to), at, from)
ON_PATH(unlink, "unlink", (const char *path), (path), AT_FDCWD, path)
ON_PATH(unlinkat, "unlink", (int at, const char *path, int flags), (at, path, flags), at, path)
ON_PATH(rmdir, "rmdir", (const char *path), (path), AT_FDCWD, path)
ON_PATH(mkdir, "mkdir", (const char *path, mode_t mode), (path, mode), AT_FDCWD, path)
ON_PATH(link, "link", (const char *path, const char *to), (path, to), AT_FDCWD, path)
ON_PATH(chmod, "chmod", (const char *path, mode_t mode), (path, mode), AT_FDCWD, path)

int close(int file) {
    REAL(close);
    const int number = due_of("close", file);
    forget(file);
    const int result = real(file);
    FAIL(-1, number);
    return result;
}

int fclose(FILE *stream) {
    REAL(fclose);
    const int file = fileno(stream), number = due_of("close", file);
    forget(file);
    const int result = real(stream);
    FAIL(EOF, number);
    return result;
}
