// Memory of a card, and its streams.
#pragma once

#include <cstddef>
#include <utility>

#include "card.hpp"

namespace fathometer::cuda {

// At once: no stream of ours waits for the one that this is done in.
inline void zero(void *memory, std::size_t bytes) {
    require(cudaMemset(memory, 0, bytes), "memory of the card");
    require(cudaStreamSynchronize(nullptr), "memory of the card");
}

// At once: a copy from memory that is not pinned may return before it has arrived.
inline void copy(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind, const char *what) {
    require(cudaMemcpy(to, from, bytes, kind), what);
    require(cudaStreamSynchronize(nullptr), what);
}

// Zeroed memory of the current card.
class Memory {
  public:
    Memory() = default;
    explicit Memory(std::size_t bytes) : size(bytes) {
        require(cudaMalloc(&at, bytes), "memory of the card");
        zero(at, bytes);
    }
    Memory(Memory &&other) noexcept : at(std::exchange(other.at, nullptr)), size(std::exchange(other.size, 0)) {}
    Memory &operator=(Memory &&other) noexcept {
        std::swap(at, other.at);
        std::swap(size, other.size);
        return *this;
    }
    ~Memory() {
        if (at)
            (void)cudaFree(at);
    }

    void *data() const { return at; }
    std::size_t bytes() const { return size; }
    void copy_in(const void *from, std::size_t bytes) {
        if (bytes)
            copy(at, from, bytes, cudaMemcpyHostToDevice, "copy to the card");
    }

  private:
    void *at = nullptr;
    std::size_t size = 0;
};

// Memory of the host that a card reads and writes by itself.
class PinnedMemory {
  public:
    PinnedMemory() = default;
    PinnedMemory(const PinnedMemory &) = delete;
    ~PinnedMemory() { release(); }

    // Room for so many bytes, whose values are lost where there was less.
    void *room(std::size_t bytes) {
        if (bytes > size) {
            release();
            require(cudaMallocHost(&at, bytes), "pinned memory of the host");
            size = bytes;
        }
        return at;
    }
    void *data() const { return at; }

  private:
    void *at = nullptr;
    std::size_t size = 0;

    void release() {
        if (at)
            (void)cudaFreeHost(at);
        at = nullptr;
        size = 0;
    }
};

class Stream {
  public:
    Stream() { require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream of the card"); }
    Stream(const Stream &) = delete;
    ~Stream() { (void)cudaStreamDestroy(stream); }
    operator cudaStream_t() const { return stream; }
    void wait(const char *what) { require(cudaStreamSynchronize(stream), what); }

  private:
    cudaStream_t stream = nullptr;
};

// A place in a stream; also a time, where it is timed.
class Event {
  public:
    explicit Event(bool timed = false) {
        require(cudaEventCreateWithFlags(&event, timed ? cudaEventDefault : cudaEventDisableTiming),
                "event of the card");
    }
    Event(const Event &) = delete;
    ~Event() { (void)cudaEventDestroy(event); }
    void record(cudaStream_t stream) { require(cudaEventRecord(event, stream), "event of the card"); }
    void hold(cudaStream_t stream) { require(cudaStreamWaitEvent(stream, event, 0), "event of the card"); } // until it
    void wait() { require(cudaEventSynchronize(event), "time steps on the card"); }
    bool reached() {
        const cudaError_t result = cudaEventQuery(event);
        if (result == cudaErrorNotReady) {
            (void)cudaGetLastError();
            return false;
        }
        require(result, "time steps on the card");
        return true;
    }
    double since(const Event &earlier) const { // seconds
        float milliseconds = 0;
        require(cudaEventElapsedTime(&milliseconds, earlier.event, event), "event of the card");
        return double(milliseconds) / 1e3;
    }

  private:
    cudaEvent_t event = nullptr;
};

} // namespace fathometer::cuda
