// Call sites: where in the program a function of MPI was called, as module, symbol and place in the module.

#include "state.hpp"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <mutex>
#include <unordered_map>

namespace fathometer::profile {

namespace {

constexpr std::uint32_t THROUGH = 0xffffffffu; // code of MPI itself, such as its Fortran interface: its caller counts
constexpr int DEPTH = 24;

struct Sites {
    std::mutex mutex;
    std::unordered_map<void *, std::uint32_t> known;
};
auto &sites = *new Sites;

const char *base(const char *path) {
    const char *slash = std::strrchr(path, '/');
    return slash == nullptr ? path : slash + 1;
}

bool of_mpi(const char *module) {
    return std::strncmp(base(module), "libmpi", 6) == 0 || std::strncmp(base(module), "libprofile_", 11) == 0;
}

std::uint32_t new_site(void *address) {
    Dl_info info = {};
    if (dladdr(address, &info) == 0 || info.dli_fname == nullptr)
        info.dli_fname = "";
    if (of_mpi(info.dli_fname))
        return THROUGH;
    if (header == nullptr || header->sites >= SITES - 1)
        return SITES - 1; // of all others
    auto *const slots = reinterpret_cast<SiteSlot *>(reinterpret_cast<char *>(header) + header->sites_at);
    if (header->sites == 0)
        header->sites = 1; // 0: not asked for
    SiteSlot &slot = slots[header->sites];
    const auto place = reinterpret_cast<std::uint64_t>(address);
    slot.address = place;
    slot.offset = place - reinterpret_cast<std::uint64_t>(info.dli_fbase);
    std::snprintf(slot.module, sizeof slot.module, "%s", info.dli_fname);
    std::snprintf(slot.symbol, sizeof slot.symbol, "%s", info.dli_sname == nullptr ? "" : info.dli_sname);
    return static_cast<std::uint32_t>(header->sites++);
}

std::uint32_t looked_up(void *address) {
    const std::lock_guard lock(sites.mutex);
    const auto [found, made] = sites.known.try_emplace(address, 0);
    if (made)
        found->second = new_site(address);
    return found->second;
}

std::uint32_t caller_of_mpi() {
    void *frames[DEPTH];
    const int depth = backtrace(frames, DEPTH);
    for (int n = 0; n < depth; ++n)
        if (const std::uint32_t site = looked_up(frames[n]); site != THROUGH)
            return site;
    return SITES - 1;
}

} // namespace

std::uint32_t site_of(Thread &thread, void *address) {
    if (header == nullptr)
        return 0;
    auto &near = thread.sites[reinterpret_cast<std::uint64_t>(address) >> 2 & 63];
    if (near.address != address) {
        near.site = looked_up(address);
        near.address = address;
    }
    return near.site == THROUGH ? caller_of_mpi() : near.site;
}

} // namespace fathometer::profile
