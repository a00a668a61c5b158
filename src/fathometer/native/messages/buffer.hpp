// Buffers of messages, and the bytes in them, by which a wrong message is noticed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace fathometer::messages {

// Bytes that begin on a page of their own.
class Buffer {
  public:
    explicit Buffer(std::size_t size) : size_(size) {
        constexpr std::size_t page = 4096;
        data_ = static_cast<unsigned char *>(std::aligned_alloc(page, (size / page + 1) * page));
        if (!data_)
            throw std::bad_alloc();
    }
    ~Buffer() { std::free(data_); }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;

    unsigned char *data() { return data_; }
    std::size_t size() const { return size_; }

  private:
    unsigned char *data_;
    std::size_t size_;
};

// The bytes of a message are those of a generator (splitmix64; Steele, Lea & Flood 2014) begun with its key.
void fill(unsigned char *bytes, std::size_t size, std::uint64_t key);

// How many bytes differ from those that `fill` writes.
std::int64_t differing(const unsigned char *bytes, std::size_t size, std::uint64_t key);

// A key of several numbers.
std::uint64_t key_of(std::uint64_t seed, std::uint64_t series, std::uint64_t sender, std::uint64_t part);

// Bytes that no correct message has left: what is received is checked against stale contents too.
void poison(unsigned char *bytes, std::size_t size);

// Put lines of memory out of all caches; false where the processor has no instruction for it.
bool flush(const unsigned char *bytes, std::size_t size);
bool can_flush();

} // namespace fathometer::messages
