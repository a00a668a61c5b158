// A wavefield on a card: its memory, and its time steps with all that belongs to them (core/step.hpp).
#pragma once

#include <memory>
#include <vector>

#include "imaging.hpp"
#include "memory.hpp"
#include "points.hpp"
#include "steps.hpp"

namespace fathometer::cuda {

// Arguments as ctypes passes them (seismic/waves/card_library.py has the same structures).
struct Shape {
    int64_t radius, has_y, fields, free_surface, depth; // planes of the halos
    int64_t n[3];
    int64_t cut[3][2];                           // axis, low and high side: the cells beyond belong to another rank
    const void *weights, *staggered, *eta_dt[3]; // [axis][R + 1], [axis][(R + 1) / 2]; null: no sponge
    const void *model[3];
    int64_t model_stride[2]; // in numbers
};

struct LayerShape {
    int64_t axis, cell_lo, cell_hi, half_lo, half_hi;
    const void *psi_gain, *psi_decay, *zeta_gain, *zeta_decay;
};

// After a step of the job. Arrays of the card, except where `…_of_host` is not 0.
struct ImagingStep {
    int64_t step, lo[3], hi[3];
    void *snapshot, *source, *image, *illumination;
    int64_t snapshot_of_host, source_of_host;
};

struct Job {
    int64_t start, steps; // the job's first step, of the loop; their number
    void *sources, *receivers;
    const void *injected; // [step][column], of the host
    int64_t columns;
    double scale;
    int64_t imaging_steps;
    const ImagingStep *imaging;
};

// Seconds by events of the card, and bytes, since they were last asked for.
struct Account {
    double steps, imaging, transfers;
    int64_t transferred;
};

// Receivers keep the lines of each step until they are taken.
class AnyPoints {
  public:
    virtual ~AnyPoints() = default;
    virtual void add_up(void *recorded, int64_t columns) = 0; // [step][column] of the host
    virtual void lines(void *to) = 0;                         // [step][line] of the host
};

class AnyWave {
  public:
    virtual ~AnyWave() = default;
    virtual void add_layer(const LayerShape &shape) = 0;
    virtual std::unique_ptr<AnyPoints> points(int64_t count, const int64_t *first, const int32_t *cells,
                                              const void *weight, const int64_t *column, bool receivers) = 0;
    virtual void reset(const int32_t *active, int64_t rows, int64_t stride) = 0; // null: all rows in all steps
    // All of some steps, where no side is cut. Returns when those of the call before are done.
    virtual void advance(const Job &job) = 0;
    // Step n of a job where sides are cut: what needs no neighbour's cells, and the rest.
    virtual void inside(int64_t n, const Job &job) = 0;
    virtual void rim(int64_t n, const Job &job) = 0;
    virtual void set_level(int level) = 0;
    virtual void image(const ImagingStep &imaging) = 0; // of "now"
    virtual int64_t first_nonfinite() = 0;
    // Cells of a field's level, from or to a contiguous array of the host; `wait`: until it is there.
    virtual void copy(int field, int level, const int64_t lo[3], const int64_t hi[3], void *host, bool in,
                      bool wait) = 0;
    virtual bool copied() = 0;            // whether copies that were not waited for have ended
    virtual void wait_for_copies() = 0;   // until they have
    virtual int64_t memories() const = 0; // of layers
    virtual int64_t memory_bytes(int64_t number) const = 0;
    virtual void copy_memory(int64_t number, void *host, bool in) = 0;
    virtual void encode(const void *volume, const int64_t n[3], int bits, void *cells, void *scales) = 0;
    virtual void decode(const void *cells, const void *scales, const int64_t n[3], int bits, void *volume) = 0;
    // Buffers that steps and copies between card and host use in turns, by number: a copy begins when the steps have
    // used the buffer, and goes on beside those that follow; steps wait for it where they say so.
    virtual void begin_copy(int64_t buffer, void *card, void *host, int64_t bytes, bool in) = 0;
    virtual void await_copy(int64_t buffer) = 0; // by the steps that follow
    virtual void used(int64_t buffer) = 0;       // by the steps before
    virtual void settle() = 0;                   // until all is done
    virtual Account account() = 0;
};

std::unique_ptr<AnyWave> make_wave(int64_t itemsize, const Shape &shape);

// Bytes of a card that a wavefield of this shape takes, without layers.
int64_t wave_bytes(int64_t itemsize, const Shape &shape);

} // namespace fathometer::cuda
