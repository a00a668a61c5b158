// A card of graphics for tests, in a processor: what native/cuda asks of CUDA, in as few words as possible. Blocks of
// threads run one after the other; threads of a block that meet are fibres, which give way to one another where they
// meet. Memory of the card is memory of the host, and what is asked of a stream is done at once. But what is asked of
// the stream that is nobody's, copies to the card and zeros, is done when it is waited for. Denormal results are
// flushed, as on a card.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <setjmp.h>
#include <time.h>
#include <ucontext.h>
#include <xmmintrin.h>

#define __host__
#define __device__
#define __global__
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct float4 {
    float x, y, z, w;
};

namespace emulated {

inline dim3 thread_place, block_place, thread_count;

// A fibre lives as long as the process, and has a body a block. It begins as a context; from then on all jump, which
// takes no call of the system.
struct Fibre {
    ucontext_t context;
    jmp_buf place;
    std::unique_ptr<char[]> stack{new char[stack_bytes]};
    bool begun = false, ended = false;
    static constexpr std::size_t stack_bytes = 1 << 16;
};
inline jmp_buf scheduler;
inline std::vector<std::unique_ptr<Fibre>> fibres;
inline Fibre *running = nullptr;
inline std::function<void()> body;

inline void meet() {
    if (!_setjmp(running->place))
        _longjmp(scheduler, 1);
}
inline void run_fibre() {
    for (;;) {
        body();
        running->ended = true;
        meet();
    }
}
inline void go_on(Fibre &fibre) {
    running = &fibre;
    if (_setjmp(scheduler))
        return;
    if (fibre.begun)
        _longjmp(fibre.place, 1);
    fibre.begun = true;
    setcontext(&fibre.context);
}
inline std::unique_ptr<Fibre> new_fibre() {
    auto fibre = std::make_unique<Fibre>();
    getcontext(&fibre->context);
    fibre->context.uc_stack.ss_sp = fibre->stack.get();
    fibre->context.uc_stack.ss_size = Fibre::stack_bytes;
    fibre->context.uc_link = nullptr;
    makecontext(&fibre->context, &run_fibre, 0);
    return fibre;
}

inline void run_block(bool meets) {
    const unsigned threads = thread_count.x * thread_count.y * thread_count.z;
    auto be = [](unsigned t) {
        thread_place =
            dim3(t % thread_count.x, t / thread_count.x % thread_count.y, t / thread_count.x / thread_count.y);
    };
    if (!meets) {
        for (unsigned t = 0; t < threads; ++t) {
            be(t);
            body();
        }
        return;
    }
    while (fibres.size() < threads)
        fibres.push_back(new_fibre());
    for (unsigned t = 0; t < threads; ++t)
        fibres[t]->ended = false;
    for (bool any = true; any;) {
        any = false;
        for (unsigned t = 0; t < threads; ++t) {
            if (fibres[t]->ended)
                continue;
            be(t);
            go_on(*fibres[t]);
            any = any || !fibres[t]->ended;
        }
    }
}

inline void run(bool meets, dim3 blocks, dim3 threads, std::function<void()> kernel) {
    const unsigned saved = _mm_getcsr();
    _mm_setcsr(saved | 0x8040);
    body = std::move(kernel);
    thread_count = threads;
    for (unsigned z = 0; z < blocks.z; ++z)
        for (unsigned y = 0; y < blocks.y; ++y)
            for (unsigned x = 0; x < blocks.x; ++x) {
                block_place = dim3(x, y, z);
                run_block(meets);
            }
    _mm_setcsr(saved);
}

inline std::int64_t memory_bytes() { // of the card
    const char *bytes = std::getenv("EMULATED_CARD_BYTES");
    return bytes ? std::atoll(bytes) : std::int64_t(1) << 30;
}
inline std::int64_t used_bytes = 0;

inline std::vector<std::function<void()>> asked; // of the stream that is nobody's
inline void do_asked() {
    for (const auto &work : std::exchange(asked, {}))
        work();
}

} // namespace emulated

#define threadIdx emulated::thread_place
#define blockIdx emulated::block_place
#define blockDim emulated::thread_count

inline void __syncthreads() { emulated::meet(); }
template <class T> void atomicMin(T *at, T value) { *at = std::min(*at, value); }
template <class T> void atomicMax(T *at, T value) { *at = std::max(*at, value); }
using std::max;
using std::min;

enum cudaError_t { cudaSuccess, cudaErrorMemoryAllocation = 2, cudaErrorNotReady = 600 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
using cudaStream_t = int *;
using cudaEvent_t = double *;
enum { cudaStreamNonBlocking, cudaEventDefault, cudaEventDisableTiming, cudaHostRegisterDefault };
struct cudaDeviceProp {
    char name[256];
    int major, minor, multiProcessorCount, l2CacheSize;
};

inline const char *cudaGetErrorString(cudaError_t error) { return error == cudaSuccess ? "no error" : "out of memory"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaDriverGetVersion(int *version) {
    *version = std::getenv("EMULATED_CARD_NONE") ? 0 : 13000;
    return cudaSuccess;
}
inline cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = 13000;
    return cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int *count) {
    *count = 1;
    return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
    std::strcpy(properties->name, "emulated card");
    const char *capability = std::getenv("EMULATED_CARD_CAPABILITY");
    properties->major = capability ? std::atoi(capability) : 9;
    properties->minor = 0, properties->multiProcessorCount = 1, properties->l2CacheSize = 1 << 20;
    return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(std::size_t *free, std::size_t *total) {
    *total = std::size_t(emulated::memory_bytes());
    *free = std::size_t(std::max<std::int64_t>(emulated::memory_bytes() - emulated::used_bytes, 0));
    return cudaSuccess;
}
// New memory holds no number; its size stands before it.
inline cudaError_t cudaMalloc(void **at, std::size_t bytes) {
    if (emulated::used_bytes + std::int64_t(bytes) > emulated::memory_bytes())
        return cudaErrorMemoryAllocation;
    char *all = static_cast<char *>(std::aligned_alloc(256, (bytes + 256 + 255) / 256 * 256));
    std::memcpy(all, &bytes, sizeof bytes);
    std::memset(all + 256, 0xff, bytes);
    emulated::used_bytes += std::int64_t(bytes);
    *at = all + 256;
    return cudaSuccess;
}
inline cudaError_t cudaFree(void *at) {
    if (!at)
        return cudaSuccess;
    emulated::do_asked();
    std::size_t bytes;
    std::memcpy(&bytes, static_cast<char *>(at) - 256, sizeof bytes);
    emulated::used_bytes -= std::int64_t(bytes);
    std::free(static_cast<char *>(at) - 256);
    return cudaSuccess;
}
inline cudaError_t cudaMallocHost(void **at, std::size_t bytes) {
    *at = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    return cudaSuccess;
}
inline cudaError_t cudaFreeHost(void *at) {
    std::free(at);
    return cudaSuccess;
}
inline cudaError_t cudaHostRegister(void *, std::size_t, unsigned) { return cudaSuccess; }
inline cudaError_t cudaHostUnregister(void *) { return cudaSuccess; }
inline cudaError_t cudaMemsetAsync(void *at, int value, std::size_t bytes, cudaStream_t) {
    std::memset(at, value, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemset(void *at, int value, std::size_t bytes) {
    emulated::asked.push_back([=] { std::memset(at, value, bytes); });
    return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
    std::memcpy(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind) {
    if (kind == cudaMemcpyHostToDevice) {
        emulated::asked.push_back([to, bytes = std::string(static_cast<const char *>(from), bytes)] {
            std::memcpy(to, bytes.data(), bytes.size());
        });
        return cudaSuccess;
    }
    emulated::do_asked();
    return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}
inline cudaError_t cudaMemcpy2D(void *to, std::size_t to_pitch, const void *from, std::size_t from_pitch,
                                std::size_t width, std::size_t height, cudaMemcpyKind) {
    for (std::size_t row = 0; row < height; ++row)
        std::memcpy(static_cast<char *>(to) + row * to_pitch, static_cast<const char *>(from) + row * from_pitch,
                    width);
    return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() {
    emulated::do_asked();
    return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
    *stream = new int(0);
    return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    delete stream;
    return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    if (!stream)
        emulated::do_asked();
    return cudaSuccess;
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
    *event = new double(0);
    return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    *event = double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
    return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    *milliseconds = float(1e3 * (*end - *begin));
    return cudaSuccess;
}
