// Communicators, windows, files and persistent requests by their handles. Part of recorder.cpp, after `real`.

struct Prepared {
    std::uint64_t out, in;
    int peer;
    Communicator *communicator;
};

// Of a kind of handle, a pointer or an integer. Never destroyed: a program may call MPI at its very end.
template <class Entry> struct Handles {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, Entry> entries;
};
static auto &communicators = *new Handles<Communicator *>;
static auto &windows_of_memory = *new Handles<Communicator *>;
static auto &open_files = *new Handles<FileSlot *>;
static auto &prepared = *new Handles<Prepared>;
static MPI_Group world_group;
static int world_size;

template <class Handle> static std::uint64_t bits(Handle handle) { return (std::uint64_t)(std::uintptr_t)handle; }

static void set_members(Communicator &found, MPI_Group group, std::uint64_t &hash) {
    real.MPI_Group_size(group, &found.size);
    const auto count = static_cast<std::size_t>(found.size);
    std::vector<int> own(count);
    int *const world = new int[count];
    for (int n = 0; n < found.size; ++n)
        own[static_cast<std::size_t>(n)] = n;
    real.MPI_Group_translate_ranks(group, found.size, own.data(), world_group, world);
    found.same = found.size == world_size;
    hash = 1469598103934665603u; // FNV-1a
    for (int n = 0; n < found.size; ++n) {
        found.same = found.same && world[n] == n;
        hash = (hash ^ static_cast<std::uint64_t>(world[n] + 1)) * 1099511628211u;
    }
    found.world = world;
    if (found.same) {
        delete[] world;
        found.world = nullptr;
    }
}

static Communicator *new_communicator(MPI_Comm handle) {
    auto *found = new Communicator;
    MPI_Group group;
    int between = 0, length = 0;
    char name[MPI_MAX_OBJECT_NAME] = "";
    std::uint64_t members;
    real.MPI_Comm_test_inter(handle, &between);
    found->between = between != 0;
    (found->between ? real.MPI_Comm_remote_group : real.MPI_Comm_group)(handle, &group);
    set_members(*found, group, members);
    real.MPI_Group_free(&group);
    real.MPI_Comm_rank(handle, &found->me);
    found->others = static_cast<std::uint64_t>(found->size);
    int own_side = 0;
    real.MPI_Comm_size(handle, &own_side); // the local group, between groups too
    found->own_side = static_cast<std::uint64_t>(own_side);
    real.MPI_Comm_get_name(handle, name, &length);
    found->index = communicator_slot(*found, name, members, false);
    return found;
}

static Communicator *new_window(MPI_Win handle) {
    auto *found = new Communicator;
    MPI_Group group;
    int length = 0;
    char name[MPI_MAX_OBJECT_NAME] = "";
    std::uint64_t members;
    real.MPI_Win_get_group(handle, &group);
    set_members(*found, group, members);
    real.MPI_Group_rank(group, &found->me);
    real.MPI_Group_free(&group);
    real.MPI_Win_get_name(handle, name, &length);
    found->index = communicator_slot(*found, name, members, true);
    return found;
}

// In the table of this kind, made by `make` at its first use.
template <class Handle>
static Communicator *find(Handles<Communicator *> &table, Handle handle, Communicator *(*make)(Handle)) {
    const std::lock_guard lock(table.mutex);
    Communicator *&found = table.entries[bits(handle)];
    if (found == nullptr)
        found = make(handle);
    return found;
}

static Communicator *find_communicator(MPI_Comm handle) {
    if (handle == MPI_COMM_NULL || !running)
        return &nobody;
    Thread &thread = this_thread();
    const std::uint64_t now = epoch.load(std::memory_order_acquire);
    if (thread.communicator == nullptr || thread.handle != bits(handle) || thread.epoch != now) {
        thread.communicator = find(communicators, handle, new_communicator);
        thread.handle = bits(handle);
        thread.epoch = now;
    }
    return thread.communicator;
}

static Communicator *find_window(MPI_Win handle) {
    return handle == MPI_WIN_NULL || !running ? &nobody : find(windows_of_memory, handle, new_window);
}

// Its memory stays where a request may still name it, or another thread: that of the members alone is given back.
static void forget(Handles<Communicator *> &table, std::uint64_t handle) {
    const std::lock_guard lock(table.mutex);
    table.entries.erase(handle);
    epoch.fetch_add(1, std::memory_order_release);
}
static void forget_communicator(MPI_Comm handle) { forget(communicators, bits(handle)); }
static void forget_window(MPI_Win handle) { forget(windows_of_memory, bits(handle)); }

static void rename_communicator(MPI_Comm handle) {
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    real.MPI_Comm_get_name(handle, name, &length);
    name_slot(find_communicator(handle)->index, name);
}

static void rename_window(MPI_Win handle) {
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    real.MPI_Win_get_name(handle, name, &length);
    name_slot(find_window(handle)->index, name);
}

static FileSlot *open_file(MPI_File handle, const char *name) {
    FileSlot *const found = file_slot(name);
    const std::lock_guard lock(open_files.mutex);
    return open_files.entries[bits(handle)] = found;
}

static FileSlot *find_file(MPI_File handle) {
    const std::lock_guard lock(open_files.mutex);
    const auto found = open_files.entries.find(bits(handle));
    return found == open_files.entries.end() ? NO_FILE : found->second;
}

static FileSlot *close_file(MPI_File handle) {
    const std::lock_guard lock(open_files.mutex);
    const auto found = open_files.entries.find(bits(handle));
    if (found == open_files.entries.end())
        return NO_FILE;
    FileSlot *const file = found->second;
    open_files.entries.erase(found);
    return file;
}

static void prepare(MPI_Request request, const Call &call, std::uint64_t out, std::uint64_t in, int peer) {
    const std::lock_guard lock(prepared.mutex);
    prepared.entries[bits(request)] = {out, in, peer, call.communicator};
}

static void forget_request(MPI_Request request) {
    const std::lock_guard lock(prepared.mutex);
    prepared.entries.erase(bits(request));
}

// A persistent request is started by `call`.
static void started(Call &call, MPI_Request request) {
    const std::lock_guard lock(prepared.mutex);
    const auto found = prepared.entries.find(bits(request));
    if (found == prepared.entries.end())
        return;
    call.communicator = found->second.communicator;
    call.more_out += found->second.out;
    call.more_in += found->second.in;
    call.message(Peer::Sent, found->second.peer, found->second.out);
}

// Neighbours in the topology of a communicator.
struct Neighbours {
    std::uint64_t in, out;
};
static Neighbours neighbours(MPI_Comm handle, Communicator &of) {
    if (of.degree_in < 0) {
        int kind = MPI_UNDEFINED, in = 0, out = 0, weighted = 0;
        real.MPI_Topo_test(handle, &kind);
        if (kind == MPI_CART) {
            real.MPI_Cartdim_get(handle, &in);
            in = out = 2 * in;
        } else if (kind == MPI_GRAPH) {
            real.MPI_Graph_neighbors_count(handle, of.me, &in);
            out = in;
        } else if (kind == MPI_DIST_GRAPH) {
            real.MPI_Dist_graph_neighbors_count(handle, &in, &out, &weighted);
        }
        of.degree_out = out;
        of.degree_in = in;
    }
    return {static_cast<std::uint64_t>(of.degree_in), static_cast<std::uint64_t>(of.degree_out)};
}
