#include "buffer.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace fathometer::messages {

namespace {

constexpr std::size_t line = 64;

class Generator {
  public:
    explicit Generator(std::uint64_t key) : state_(key) {}

    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

  private:
    std::uint64_t state_;
};

} // namespace

void fill(unsigned char *bytes, std::size_t size, std::uint64_t key) {
    Generator generator(key);
    for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
        const std::uint64_t word = generator.next();
        std::memcpy(bytes + at, &word, std::min(sizeof word, size - at));
    }
}

std::int64_t differing(const unsigned char *bytes, std::size_t size, std::uint64_t key) {
    Generator generator(key);
    std::int64_t wrong = 0;
    for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
        const std::uint64_t word = generator.next();
        const std::size_t length = std::min(sizeof word, size - at);
        if (std::memcmp(bytes + at, &word, length) != 0) {
            unsigned char wanted[sizeof word];
            std::memcpy(wanted, &word, sizeof word);
            for (std::size_t n = 0; n < length; ++n)
                wrong += bytes[at + n] != wanted[n];
        }
    }
    return wrong;
}

std::uint64_t key_of(std::uint64_t seed, std::uint64_t series, std::uint64_t sender, std::uint64_t part) {
    std::uint64_t key = seed;
    for (const std::uint64_t number : {series, sender, part})
        key = Generator(key ^ std::rotl(number + 1, 32)).next();
    return key;
}

void poison(unsigned char *bytes, std::size_t size) { std::memset(bytes, 0xa5, size); }

#if defined(__x86_64__)

bool flush(const unsigned char *bytes, std::size_t size) {
    for (std::size_t at = 0; at < size; at += line)
        _mm_clflush(bytes + at);
    _mm_mfence();
    return true;
}

bool can_flush() { return true; }

#elif defined(__aarch64__)

bool flush(const unsigned char *bytes, std::size_t size) {
    for (std::size_t at = 0; at < size; at += line)
        asm volatile("dc civac, %0" ::"r"(bytes + at) : "memory");
    asm volatile("dsb ish" ::: "memory");
    return true;
}

bool can_flush() { return true; }

#else

bool flush(const unsigned char *, std::size_t) { return false; }

bool can_flush() { return false; }

#endif

} // namespace fathometer::messages
