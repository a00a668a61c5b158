#include "filter_timer.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <utility>

namespace fathometer {

namespace {

using Filter = std::size_t (*)(unsigned, std::size_t, const unsigned *, std::size_t, std::size_t *, void **);
constexpr std::size_t most = 8;
std::array<Filter, most> watched{};
std::atomic<std::size_t> count{0};
std::atomic<std::int64_t> nanoseconds{0};

template <std::size_t N>
std::size_t timed(unsigned flags, std::size_t values, const unsigned *value, std::size_t bytes, std::size_t *size,
                  void **buffer) {
    const auto begin = std::chrono::steady_clock::now();
    const std::size_t result = watched[N](flags, values, value, bytes, size, buffer);
    nanoseconds += std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
    return result;
}

template <std::size_t... N> std::array<Filter, most> all_timed(std::index_sequence<N...>) { return {timed<N>...}; }

} // namespace

std::uintptr_t timed_filter(std::uintptr_t function) {
    const std::size_t number = count++;
    if (number >= most)
        throw std::length_error("eight filters are timed at most");
    watched[number] = reinterpret_cast<Filter>(function);
    return reinterpret_cast<std::uintptr_t>(all_timed(std::make_index_sequence<most>())[number]);
}

double filter_seconds() { return 1e-9 * double(nanoseconds); }

} // namespace fathometer
