// The rank's file: made at MPI_Init, a block more for each thread, the last words at the end.

#include "state.hpp"
#include "usage.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace fathometer::profile {

bool running = false, by_counter = false, by_communicator = false, by_site = false, waiting = false;
Header *header = nullptr;
std::atomic<std::uint64_t> epoch = 0;
Communicator nobody;

namespace {

constexpr std::uint64_t PAGE = 4096;
constexpr std::uint64_t FIRST_SHIFT = 20; // of windows: half a millisecond at 2 GHz
constexpr std::uint64_t SNAPSHOT_NANOSECONDS = 250000000;

int file = -1;
char *mapped = nullptr; // header and tables
std::atomic_flag snapping = ATOMIC_FLAG_INIT;
pthread_key_t thread_end;
auto &mutex = *new std::mutex;         // of what is made seldom: slots and blocks; never destroyed
auto &left = *new std::vector<Thread>; // blocks of threads that have ended, for those to come
auto &blocks = *new std::vector<Block *>;

void cut(char *into, std::size_t room, const char *text) { std::snprintf(into, room, "%s", text); }

std::uint64_t whole_pages(std::uint64_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

// Reserved, so that a full disk is an error here and not the end of the program at some later store.
char *map(std::uint64_t from, std::uint64_t bytes) {
    if (const int error = posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(bytes)); error != 0) {
        errno = error;
        return nullptr;
    }
    void *const place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(from));
    return place == MAP_FAILED ? nullptr : static_cast<char *>(place);
}

// Which processes belong together, where the launcher says it.
void name_job(char *into, std::size_t room) {
    if (const char *space = std::getenv("PMIX_NAMESPACE")) {
        cut(into, room, space);
        return;
    }
    const char *job = std::getenv("SLURM_JOB_ID"), *step = std::getenv("SLURM_STEP_ID");
    if (job != nullptr && step != nullptr)
        std::snprintf(into, room, "slurm %s.%s", job, step);
    else
        std::snprintf(into, room, "parent %d", static_cast<int>(getppid()));
}

// The words of this process; of a program whose arguments are hidden, its name.
void name_program(char *into, std::size_t room, bool hidden) {
    char words[256] = "";
    const int source = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    const ssize_t length = source < 0 ? 0 : read(source, words, sizeof words - 1);
    if (source >= 0)
        close(source);
    for (ssize_t n = 0; n + 1 < length && !hidden; ++n)
        if (words[n] == 0)
            words[n] = ' ';
    cut(into, room, words);
}

bool option(const char *options, const char *name) {
    return options != nullptr && std::strstr(options, name) != nullptr;
}

void in_child() { // of fork: the file is the parent's
    running = false;
    header = nullptr;
    this_thread().block = nullptr;
}

void leave(void *of) {
    auto *thread = static_cast<Thread *>(of);
    const std::lock_guard lock(mutex);
    if (thread->block != nullptr && thread->block->shared == 0)
        left.push_back(*thread);
    thread->block = nullptr;
}

struct AtEnd {
    ~AtEnd() {
        if (header != nullptr && header->state == RUNNING)
            end_file(EXITED, 0);
    }
} at_end;

} // namespace

Thread &this_thread() {
    static thread_local Thread thread;
    return thread;
}

bool create_file(int rank, int size, const char *library, std::uint32_t checksum, bool newer_calls) {
    const char *folder = std::getenv("FATHOMETER_PROFILE"), *options = std::getenv("FATHOMETER_PROFILE_OPTIONS");
    char host[64] = "", path[4096];
    gethostname(host, sizeof host - 1);
    std::snprintf(path, sizeof path, "%s/rank-%06d.%s.%d.profile", folder, rank, host, static_cast<int>(getpid()));
    file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const std::uint64_t communicators_at = HEADER_BYTES;
    const std::uint64_t files_at = communicators_at + COMMUNICATORS * sizeof(CommunicatorSlot);
    const std::uint64_t sites_at = files_at + FILES * sizeof(FileSlot);
    const bool sites = option(options, "sites");
    const std::uint64_t blocks_at = whole_pages(sites_at + (sites ? SITES * sizeof(SiteSlot) : 0));
    mapped = file < 0 ? nullptr : map(0, blocks_at);
    if (mapped == nullptr) {
        std::fprintf(stderr, "fathometer profile: %s: %s; rank %d is not counted\n", path, std::strerror(errno), rank);
        return false;
    }
    auto *const made = reinterpret_cast<Header *>(mapped);
    made->version = VERSION;
    made->checksum = checksum;
    made->header_bytes = sizeof(Header);
    made->rank = rank;
    made->size = size;
    made->pid = static_cast<std::int32_t>(getpid());
    made->state = RUNNING;
    made->clock = by_counter ? 0 : 1;
    made->newer_calls = newer_calls;
    by_communicator = option(options, "communicators");
    by_site = sites;
    waiting = option(options, "wait");
    const bool counters = option(options, "counters");
    made->options = (by_communicator ? BY_COMMUNICATOR : 0) | (by_site ? BY_SITE : 0) | (waiting ? WAIT : 0) |
                    (counters ? COUNTERS : 0);
    made->communicators_at = communicators_at;
    made->files_at = files_at;
    made->sites_at = sites_at;
    made->blocks_at = blocks_at;
    made->calls_each = CALLS;
    made->windows_each = WINDOWS;
    made->peers_each = std::bit_ceil(std::clamp(4 * static_cast<std::uint64_t>(size), FEWEST_PEERS, MOST_PEERS));
    made->block_bytes = whole_pages(sizeof(Block) + CALLS * sizeof(CallSlot) + made->peers_each * sizeof(PeerSlot) +
                                    WINDOWS * sizeof(Window));
    made->begin_real_nanoseconds = nanoseconds(CLOCK_REALTIME);
    made->first = made->last = {ticks(), nanoseconds()};
    cut(made->host, sizeof made->host, host);
    cut(made->library, sizeof made->library, library);
    name_job(made->job, sizeof made->job);
    name_program(made->program, sizeof made->program, option(options, "hide-arguments"));
    if (counters)
        made->counter_error = static_cast<std::uint32_t>(open_counters());
    read_usage(made->before);
    made->latest = made->before;
    std::memcpy(made->magic, "FATHPROF", sizeof made->magic); // last: from here on it can be read
    header = made;
    pthread_atfork(nullptr, nullptr, in_child);
    pthread_key_create(&thread_end, leave);
    return true;
}

void create_block(Thread &thread) {
    const std::lock_guard lock(mutex);
    if (header == nullptr)
        return;
    if (!left.empty()) {
        const Thread before = left.back();
        left.pop_back();
        thread.block = before.block;
        thread.calls = before.calls;
        thread.peers = before.peers;
        thread.windows = before.windows;
        pthread_setspecific(thread_end, &thread);
        return;
    }
    const std::uint64_t number = header->blocks;
    char *const place =
        number < MOST_BLOCKS ? map(header->blocks_at + number * header->block_bytes, header->block_bytes) : nullptr;
    if (place == nullptr) {
        ++header->dropped; // calls of this thread are not counted, which the profile says
        return;
    }
    thread.block = reinterpret_cast<Block *>(place);
    blocks.push_back(thread.block);
    thread.calls = reinterpret_cast<CallSlot *>(place + sizeof(Block));
    thread.peers = reinterpret_cast<PeerSlot *>(thread.calls + CALLS);
    thread.windows = reinterpret_cast<Window *>(thread.peers + header->peers_each);
    thread.block->shift = FIRST_SHIFT;
    thread.block->origin = header->first.ticks;
    header->blocks = number + 1;
    pthread_setspecific(thread_end, &thread);
}

void take_snapshot(Block &block) {
    if (header == nullptr || block.main == 0)
        return;
    header->last = {ticks(), nanoseconds()};
    if (header->last.nanoseconds - header->latest.nanoseconds > SNAPSHOT_NANOSECONDS)
        read_usage(header->latest);
}

void end_file(State state, int code) {
    if (header == nullptr)
        return;
    header->last = {ticks(), nanoseconds()};
    header->end = header->last.ticks;
    read_usage(header->latest);
    header->code = code;
    header->state = state;
}

void seal_file() {
    if (header == nullptr || header->state != FINALIZED)
        return;
    running = false;
    const std::lock_guard lock(mutex);
    for (const Block *block : blocks)
        if (block->current != 0) // a thread is in MPI still, against its rules, and will write what it counts
            return;
    std::uint64_t sum = 0, factor = 1; // odd factors: any change of one word changes the sum
    const auto add = [&](const char *place, std::uint64_t bytes) {
        for (std::uint64_t word; bytes > 0; place += sizeof word, bytes -= sizeof word, factor += 2) {
            std::memcpy(&word, place, sizeof word);
            sum += word * factor;
        }
    };
    add(mapped, header->blocks_at);
    for (const Block *block : blocks)
        add(reinterpret_cast<const char *>(block), header->block_bytes);
    header->sum = sum;
}

int communicator_slot(const Communicator &communicator, const char *name, std::uint64_t members, bool window) {
    const std::lock_guard lock(mutex);
    auto *const slots = reinterpret_cast<CommunicatorSlot *>(mapped + header->communicators_at);
    const CommunicatorSlot wanted = {communicator.size, communicator.me, communicator.between, window, members, ""};
    char shortened[sizeof wanted.name];
    cut(shortened, sizeof shortened, name);
    // One that is like one that was there before goes on in its slot: a program may make and free them without end.
    for (std::uint64_t n = 0; n < header->communicators; ++n)
        if (slots[n].members == members && slots[n].size == wanted.size && slots[n].between == wanted.between &&
            slots[n].window == wanted.window && std::strcmp(slots[n].name, shortened) == 0)
            return static_cast<int>(n);
    if (header->communicators >= COMMUNICATORS - 1)
        return COMMUNICATORS - 1;
    slots[header->communicators] = wanted;
    cut(slots[header->communicators].name, sizeof shortened, name);
    return static_cast<int>(header->communicators++);
}

void name_slot(int index, const char *name) {
    const std::lock_guard lock(mutex);
    auto *const slots = reinterpret_cast<CommunicatorSlot *>(mapped + header->communicators_at);
    if (index < static_cast<int>(header->communicators))
        cut(slots[index].name, sizeof slots[index].name, name);
}

FileSlot *file_slot(const char *name) {
    const std::lock_guard lock(mutex);
    auto *const slots = reinterpret_cast<FileSlot *>(mapped + header->files_at);
    char shortened[sizeof slots->name];
    cut(shortened, sizeof shortened, name);
    std::uint64_t n = 0;
    while (n < header->files && std::strcmp(slots[n].name, shortened) != 0)
        ++n;
    if (n >= FILES)
        n = FILES - 1; // of all others
    if (n == header->files) {
        ++header->files;
        cut(slots[n].name, sizeof shortened, n == FILES - 1 ? "(all others)" : shortened);
    }
    ++slots[n].opened;
    return &slots[n];
}

} // namespace fathometer::profile
