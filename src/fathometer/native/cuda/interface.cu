// Plain functions for ctypes (seismic/waves/card_library.py): none throws; what went wrong is text in `error`, of
// `room` bytes, and the result is not 0 (or null).
#include <cstdio>
#include <exception>
#include <new>

#include "wave.hpp"

using namespace fathometer::cuda;

namespace {

template <class Work> int guarded(char *error, int room, Work work) {
    try {
        if (room > 0)
            error[0] = '\0';
        work();
        return 0;
    } catch (const std::bad_alloc &) {
        std::snprintf(error, static_cast<std::size_t>(room), "not enough memory of the host");
    } catch (const std::exception &raised) {
        std::snprintf(error, static_cast<std::size_t>(room), "%s", raised.what());
    }
    return 1;
}

AnyWave &wave_of(void *handle) { return *static_cast<AnyWave *>(handle); }
AnyPoints &points_of(void *handle) { return *static_cast<AnyPoints *>(handle); }

} // namespace

extern "C" {

// Cards that the driver shows; driver and run-time library as 1000 major + 10 minor.
int card_count(int *cards, int *driver, int *runtime, char *error, int room) {
    return guarded(error, room, [&] {
        *cards = *driver = *runtime = 0;
        require(cudaDriverGetVersion(driver), "version of the driver");
        require(cudaRuntimeGetVersion(runtime), "version of CUDA");
        if (*driver == 0)
            return; // none is installed
        require(cudaGetDeviceCount(cards), "search for cards");
    });
}

// numbers: compute capability major, minor, multiprocessors, bytes of memory, of them free, of the second-level cache
int card_use(int number, char *name, int name_room, int64_t *numbers, char *error, int room) {
    return guarded(error, room, [&] {
        cudaDeviceProp properties{};
        require(cudaSetDevice(number), "choice of the card");
        require(cudaGetDeviceProperties(&properties, number), "properties of the card");
        std::size_t free = 0, total = 0;
        require(cudaMemGetInfo(&free, &total), "memory of the card");
        std::snprintf(name, static_cast<std::size_t>(name_room), "%s", properties.name);
        const int64_t all[6] = {properties.major, properties.minor, properties.multiProcessorCount,
                                int64_t(total),   int64_t(free),    properties.l2CacheSize};
        for (int n = 0; n < 6; ++n)
            numbers[n] = all[n];
    });
}

void *card_allocate(int64_t bytes, char *error, int room) {
    void *memory = nullptr;
    guarded(error, room, [&] {
        require(cudaMalloc(&memory, std::size_t(bytes)), "memory of the card");
        zero(memory, std::size_t(bytes));
    });
    return memory;
}
void card_free(void *memory) { (void)cudaFree(memory); }

void *card_allocate_pinned(int64_t bytes, char *error, int room) {
    void *memory = nullptr;
    guarded(error, room, [&] { require(cudaMallocHost(&memory, std::size_t(bytes)), "pinned memory of the host"); });
    return memory;
}
void card_free_pinned(void *memory) { (void)cudaFreeHost(memory); }

// Memory of the host that somebody else has allocated, for copies at full speed.
int card_pin(void *memory, int64_t bytes, char *error, int room) {
    return guarded(error, room, [&] {
        require(cudaHostRegister(memory, std::size_t(bytes), cudaHostRegisterDefault), "pinning of the host's memory");
    });
}
void card_unpin(void *memory) {
    if (cudaHostUnregister(memory) != cudaSuccess)
        (void)cudaGetLastError();
}

int card_copy(void *card, void *host, int64_t bytes, int in, char *error, int room) {
    return guarded(error, room, [&] {
        copy(in ? card : host, in ? host : card, std::size_t(bytes),
             in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, "copy between card and host");
    });
}

// Seconds of a = b + 3 c of so many numbers (a multiple of 4), the best of some runs.
int card_triad(int64_t numbers, int runs, double *seconds, char *error, int room) {
    return guarded(error, room, [&] {
        const std::size_t bytes = std::size_t(numbers) * sizeof(float);
        Memory a(bytes), b(bytes), c(bytes);
        Stream stream;
        Event begin(true), end(true);
        require(cudaDeviceSynchronize(), "set-up of the card");
        *seconds = 1e30;
        for (int run = 0; run <= runs; ++run) {
            begin.record(stream);
            triad(static_cast<float *>(a.data()), static_cast<const float *>(b.data()),
                  static_cast<const float *>(c.data()), numbers, stream);
            end.record(stream);
            end.wait();
            if (run && end.since(begin) < *seconds)
                *seconds = end.since(begin);
        }
    });
}

int64_t wave_memory(int64_t itemsize, const Shape *shape) { return wave_bytes(itemsize, *shape); }

void *wave_new(int64_t itemsize, const Shape *shape, char *error, int room) {
    void *handle = nullptr;
    guarded(error, room, [&] { handle = make_wave(itemsize, *shape).release(); });
    return handle;
}
void wave_delete(void *handle) { delete static_cast<AnyWave *>(handle); }

int wave_add_layer(void *handle, const LayerShape *shape, char *error, int room) {
    return guarded(error, room, [&] { wave_of(handle).add_layer(*shape); });
}

void *points_new(void *handle, int64_t count, const int64_t *first, const int32_t *cells, const void *weight,
                 const int64_t *column, int receivers, char *error, int room) {
    void *points = nullptr;
    guarded(error, room,
            [&] { points = wave_of(handle).points(count, first, cells, weight, column, receivers != 0).release(); });
    return points;
}
void points_delete(void *handle) { delete static_cast<AnyPoints *>(handle); }
int points_add_up(void *handle, void *recorded, int64_t columns, char *error, int room) {
    return guarded(error, room, [&] { points_of(handle).add_up(recorded, columns); });
}
int points_lines(void *handle, void *lines, char *error, int room) {
    return guarded(error, room, [&] { points_of(handle).lines(lines); });
}

int wave_reset(void *handle, const int32_t *active, int64_t rows, int64_t stride, char *error, int room) {
    return guarded(error, room, [&] { wave_of(handle).reset(active, rows, stride); });
}
int wave_advance(void *handle, const Job *job, char *error, int room) {
    return guarded(error, room, [&] { wave_of(handle).advance(*job); });
}
int wave_inside(void *handle, int64_t n, const Job *job, char *error, int room) {
    return guarded(error, room, [&] { wave_of(handle).inside(n, *job); });
}
int wave_rim(void *handle, int64_t n, const Job *job, char *error, int room) {
    return guarded(error, room, [&] { wave_of(handle).rim(n, *job); });
}
void wave_set_level(void *handle, int level) { wave_of(handle).set_level(level); }
int wave_image(void *handle, const ImagingStep *imaging, char *error, int room) {
    return guarded(error, room, [&] { wave_of(handle).image(*imaging); });
}
int wave_first_nonfinite(void *handle, int64_t *first, char *error, int room) {
    return guarded(error, room, [&] { *first = wave_of(handle).first_nonfinite(); });
}
int wave_copy(void *handle, int field, int level, const int64_t *lo, const int64_t *hi, void *host, int in, int wait,
              char *error, int room) {
    return guarded(error, room, [&] { wave_of(handle).copy(field, level, lo, hi, host, in != 0, wait != 0); });
}
int wave_copied(void *handle, int *all, char *error, int room) {
    return guarded(error, room, [&] { *all = wave_of(handle).copied(); });
}
int wave_wait_for_copies(void *handle, char *error, int room) {
    return guarded(error, room, [&] { wave_of(handle).wait_for_copies(); });
}
int64_t wave_memories(void *handle) { return wave_of(handle).memories(); }
int64_t wave_memory_bytes(void *handle, int64_t number) { return wave_of(handle).memory_bytes(number); }
int wave_copy_memory(void *handle, int64_t number, void *host, int in, char *error, int room) {
    return guarded(error, room, [&] { wave_of(handle).copy_memory(number, host, in != 0); });
}
int wave_encode(void *handle, const void *volume, const int64_t *n, int bits, void *cells, void *scales, char *error,
                int room) {
    return guarded(error, room, [&] { wave_of(handle).encode(volume, n, bits, cells, scales); });
}
int wave_decode(void *handle, const void *cells, const void *scales, const int64_t *n, int bits, void *volume,
                char *error, int room) {
    return guarded(error, room, [&] { wave_of(handle).decode(cells, scales, n, bits, volume); });
}
int wave_begin_copy(void *handle, int64_t buffer, void *card, void *host, int64_t bytes, int in, char *error,
                    int room) {
    return guarded(error, room, [&] { wave_of(handle).begin_copy(buffer, card, host, bytes, in != 0); });
}
int wave_await_copy(void *handle, int64_t buffer, char *error, int room) {
    return guarded(error, room, [&] { wave_of(handle).await_copy(buffer); });
}
int wave_used(void *handle, int64_t buffer, char *error, int room) {
    return guarded(error, room, [&] { wave_of(handle).used(buffer); });
}
int wave_settle(void *handle, char *error, int room) {
    return guarded(error, room, [&] { wave_of(handle).settle(); });
}
int wave_account(void *handle, Account *account, char *error, int room) {
    return guarded(error, room, [&] { *account = wave_of(handle).account(); });
}

} // extern "C"
