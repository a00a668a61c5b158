#include "wave.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <stdexcept>

namespace fathometer::cuda {

namespace {

constexpr int beyond = 1 << 30;           // further than any half point
constexpr int64_t line = 32, widest = 64; // numbers: where rows begin, and what a tile has along z
constexpr int64_t margin = 8;             // rows of `active` before the owned ones (core/active.hpp)
#if defined(FATHOMETER_EMULATED)
constexpr int64_t most_waited_for = 1 << 12;
#else
constexpr int64_t most_waited_for = 1 << 25; // bytes of a field that are copied at a time, where that is waited for
#endif

int64_t padded(int64_t n, int64_t to) { return parts_of(n, to) * to; }

// How arrays of a wavefield lie: rows begin on whole cache lines, and tiles may read behind the last one.
struct Layout {
    int64_t stride[2], origin, numbers, model_stride[2], model_numbers;

    explicit Layout(const Shape &shape) {
        const int64_t depth = shape.depth, across = shape.has_y ? depth : 0;
        stride[1] = padded(line + shape.n[2] + depth, widest);
        stride[0] = (shape.n[1] + 2 * across) * stride[1];
        origin = depth * stride[0] + across * stride[1] + line;
        numbers = (shape.n[0] + 2 * depth) * stride[0] + 4 * widest;
        model_stride[1] = padded(shape.n[2], widest);
        model_stride[0] = shape.n[1] * model_stride[1];
        model_numbers = shape.n[0] * model_stride[0] + 4 * widest;
    }
};

// Pairs of events around work in a stream, whose seconds are added up when it is done.
class Stopwatch {
  public:
    void begin(cudaStream_t stream) {
        if (free.empty()) {
            auto pair = std::make_unique<Pair>();
            free.push_back(std::move(pair));
        }
        running.push_back(std::move(free.back()));
        free.pop_back();
        running.back()->begin.record(stream);
    }
    void end(cudaStream_t stream) {
        running.back()->end.record(stream);
        running.back()->ended = true;
    }
    void collect() {
        while (!running.empty() && running.front()->ended && running.front()->end.reached()) {
            running.front()->ended = false;
            seconds += running.front()->end.since(running.front()->begin);
            free.push_back(std::move(running.front()));
            running.pop_front();
        }
    }
    double take() {
        collect();
        return std::exchange(seconds, 0.0);
    }

  private:
    struct Pair {
        Event begin{true}, end{true};
        bool ended = false;
    };
    std::deque<std::unique_ptr<Pair>> running;
    std::vector<std::unique_ptr<Pair>> free;
    double seconds = 0;
};

// What kernels have done with a buffer, and what copies have.
struct InTurns {
    Event used, filled;
};

// A buffer of the card that both use.
struct Turn : InTurns {
    Memory memory;
    bool busy = false;

    void *room(std::size_t bytes) {
        if (memory.bytes() < bytes)
            memory = Memory(bytes);
        return memory.data();
    }
};

template <class T> class BoundPoints : public AnyPoints {
  public:
    Points<T> points;

    BoundPoints(Points<T> made, cudaStream_t stream) : points(std::move(made)), stream(stream) {}

    // Where the lines of the next step go.
    Real<T> *next_lines() {
        const int64_t row = points.view.lines;
        if (std::size_t((filled + 1) * row) * sizeof(T) > room.bytes()) {
            Memory more(std::max<int64_t>(2 * filled, 16) * std::max<int64_t>(row, 1) * sizeof(T));
            require(
                cudaMemcpyAsync(more.data(), room.data(), filled * row * sizeof(T), cudaMemcpyDeviceToDevice, stream),
                "copy on the card");
            require(cudaStreamSynchronize(stream), "time steps on the card");
            room = std::move(more);
        }
        return static_cast<Real<T> *>(room.data()) + filled++ * row;
    }
    void add_up(void *recorded, int64_t columns) override {
        const std::size_t bytes = filled * columns * sizeof(T);
        if (sums.bytes() < bytes)
            sums = Memory(bytes);
        cuda::add_up(points.view, static_cast<const Real<T> *>(room.data()), static_cast<Real<T> *>(sums.data()),
                     int(columns), int(filled), stream);
        copy_out(sums.data(), bytes, recorded);
    }
    void lines(void *to) override { copy_out(room.data(), filled * points.view.lines * sizeof(T), to); }

  private:
    cudaStream_t stream;
    Memory room, sums;
    int64_t filled = 0;

    void copy_out(const void *from, std::size_t bytes, void *to) {
        filled = 0;
        if (bytes)
            require(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream), "copy from the card");
        require(cudaStreamSynchronize(stream), "time steps on the card");
    }
};

template <class T> class Wave : public AnyWave {
  public:
    explicit Wave(const Shape &shape)
        : shape(shape), layout(shape), models(shape.fields == 2 ? 3 : 1),
          steps(steps_of<T>(int(shape.radius), int(shape.fields), shape.has_y)) {
        for (int axis = 0; axis < 3; ++axis) {
            view.n[axis] = int(shape.n[axis]);
            view.clear_hi[axis] = view.n[axis];
            view.low[axis] = view.high[axis] = -1;
            const T *weights = static_cast<const T *>(shape.weights) + axis * (shape.radius + 1);
            for (int r = 0; r <= shape.radius; ++r)
                view.weights[axis][r] = weights[r];
            const int64_t pairs = (shape.radius + 1) / 2;
            for (int m = 0; m < pairs; ++m)
                view.staggered[axis][m] = static_cast<const T *>(shape.staggered)[axis * pairs + m];
            view.eta_dt[axis] = shape.eta_dt[axis] ? keep(shape.eta_dt[axis], shape.n[axis]) : nullptr;
        }
        for (int axis = 0; axis < 2; ++axis) {
            view.stride[axis] = layout.stride[axis];
            view.model_stride[axis] = layout.model_stride[axis];
        }
        for (int f = 0; f < 2 * shape.fields; ++f)
            buffers.emplace_back(layout.numbers * sizeof(T));
        for (int m = 0; m < models; ++m) {
            arrays.emplace_back(layout.model_numbers * sizeof(T));
            T *to = static_cast<T *>(arrays.back().data());
            const T *from = static_cast<const T *>(shape.model[m]);
            for (int64_t i = 0; i < shape.n[0]; ++i)
                require(cudaMemcpy2D(to + i * layout.model_stride[0], layout.model_stride[1] * sizeof(T),
                                     from + i * shape.model_stride[0], shape.model_stride[1] * sizeof(T),
                                     shape.n[2] * sizeof(T), shape.n[1], cudaMemcpyHostToDevice),
                        "copy of the model to the card");
            view.model[m] = reinterpret_cast<const Real<T> *>(to);
        }
        set_level(0);
        for (Event *event : {&ready, &done[0], &done[1]})
            event->record(compute);
        require(cudaDeviceSynchronize(), "set-up of the card");
    }
    ~Wave() override { (void)cudaDeviceSynchronize(); }

    void add_layer(const LayerShape &of) override {
        if (view.layers == 6)
            throw std::invalid_argument("a wavefield has six sides");
        Layer<T> layer{};
        layer.axis = int(of.axis);
        layer.cell_lo = int(of.cell_lo), layer.cell_hi = int(of.cell_hi);
        layer.half_lo = int(of.half_lo), layer.half_hi = int(of.half_hi);
        const int64_t cells = of.cell_hi - of.cell_lo, pairs = (shape.radius + 1) / 2;
        int64_t psi[3], zeta[3];
        for (int axis = 0; axis < 3; ++axis)
            psi[axis] = zeta[axis] = shape.n[axis];
        psi[of.axis] = cells + 2 * pairs - 1;
        zeta[of.axis] = cells;
        layer.psi = layer_memory(psi, layer.psi_stride);
        layer.zeta = layer_memory(zeta, layer.zeta_stride);
        layer.psi_gain = keep(of.psi_gain, of.half_hi - of.half_lo);
        layer.psi_decay = keep(of.psi_decay, of.half_hi - of.half_lo);
        layer.zeta_gain = keep(of.zeta_gain, cells);
        layer.zeta_decay = keep(of.zeta_decay, cells);
        const bool first = of.cell_lo == 0 && view.low[of.axis] < 0; // a block may lie in a layer as a whole
        (first ? view.low : view.high)[of.axis] = view.layers;
        if (first)
            view.clear_lo[of.axis] = int(of.cell_hi);
        else
            view.clear_hi[of.axis] = int(of.cell_lo);
        view.layer[view.layers++] = layer;
    }

    std::unique_ptr<AnyPoints> points(int64_t count, const int64_t *first, const int32_t *cells, const void *weight,
                                      const int64_t *column, bool receivers) override {
        return std::make_unique<BoundPoints<T>>(
            Points<T>(int(count), first, cells, static_cast<const T *>(weight), column, shape.n, receivers), compute);
    }

    void reset(const int32_t *first, int64_t rows, int64_t stride) override {
        settle();
        for (std::array<Turn, 2> *some : {&snapshots, &sources}) // the loop that begins has its own
            for (Turn &turn : *some)
                turn.memory = Memory();
        for (std::vector<Memory> *all : {&buffers, &layer_memories})
            for (Memory &memory : *all)
                require(cudaMemsetAsync(memory.data(), 0, memory.bytes(), compute), "memory of the card");
        set_level(0);
        view.active = {};
        if (first) {
            if (active.bytes() < std::size_t(2 * rows * stride) * sizeof(int32_t))
                active = Memory(2 * rows * stride * sizeof(int32_t));
            active.copy_in(first, 2 * rows * stride * sizeof(int32_t));
            const int32_t *own = static_cast<const int32_t *>(active.data()) + margin * (stride + 1);
            view.active = {own, own + rows * stride, stride};
        }
        ready.record(compute);
    }

    void advance(const Job &job) override {
        upload(job);
        clock.begin(compute);
        for (int64_t n = 0; n < job.steps; ++n) {
            begin_step(n, job);
            sample_receivers(job);
            steps.half_points(view, {-beyond, -beyond, -beyond}, {beyond, beyond, beyond}, compute);
            steps.cells(view, {whole()}, compute);
            end_step(n, job);
            swap_levels();
        }
        clock.end(compute);
        // One call may be under way while the next one is made ready.
        done[turn].record(compute);
        turn = 1 - turn;
        done[turn].wait();
        finish_host_copies(job);
        collect();
    }

    void inside(int64_t n, const Job &job) override {
        if (n == 0)
            upload(job);
        begin_step(n, job);
        clock.begin(compute);
        int lo[3], hi[3];
        early_half_points(lo, hi);
        steps.half_points(view, lo, hi, compute);
        steps.cells(view, {inner()}, compute);
        clock.end(compute);
    }

    void rim(int64_t n, const Job &job) override {
        begin_step(n, job);
        arrived.hold(compute); // of halos, copied beside
        clock.begin(compute);
        sample_receivers(job);
        int lo[3], hi[3], late[3];
        early_half_points(lo, hi);
        for (int axis = 0; axis < 3; ++axis)
            late[axis] = std::max(lo[axis], hi[axis]);
        steps.half_points(view, {-beyond, -beyond, -beyond}, lo, compute);
        steps.half_points(view, late, {beyond, beyond, beyond}, compute);
        const Box within = inner();
        Box outer = whole();
        std::vector<Box> around; // the inner part
        for (int axis = 0; axis < 3; ++axis) {
            Box low = outer, high = outer;
            low.hi[axis] = outer.lo[axis] = within.lo[axis];
            high.lo[axis] = outer.hi[axis] = within.hi[axis];
            around.push_back(low);
            around.push_back(high);
        }
        steps.cells(view, around, compute);
        end_step(n, job);
        clock.end(compute);
        ready.record(compute); // what it has written may travel
        finish_host_copies(job);
        collect();
    }

    void set_level(int to) override {
        level = to;
        for (int f = 0; f < shape.fields; ++f) {
            view.now[f] = at(f, level);
            view.next[f] = at(f, 1 - level);
        }
        if (shape.fields == 1)
            view.now[1] = view.now[0], view.next[1] = view.next[0];
    }

    void image(const ImagingStep &imaging) override {
        swap_levels(); // images are made of what a step has written
        do_imaging(imaging);
        swap_levels();
        settle();
    }

    int64_t first_nonfinite() override {
        const auto none = std::numeric_limits<unsigned long long>::max();
        if (!found.data())
            found = Memory(sizeof none);
        found.copy_in(&none, sizeof none);
        cuda::first_nonfinite(view, int(shape.fields), static_cast<unsigned long long *>(found.data()), compute);
        settle();
        unsigned long long first = none;
        require(cudaMemcpy(&first, found.data(), sizeof first, cudaMemcpyDeviceToHost), "copy from the card");
        return first == none ? -1 : int64_t(first);
    }

    void copy(int field, int of_level, const int64_t lo[3], const int64_t hi[3], void *host, bool in,
              bool wait) override {
        const Box box{{int(lo[0]), int(lo[1]), int(lo[2])}, {int(hi[0]), int(hi[1]), int(hi[2])}};
        if (box.empty())
            return;
        const std::size_t bytes = (hi[0] - lo[0]) * (hi[1] - lo[1]) * (hi[2] - lo[2]) * sizeof(T);
        if (const int64_t planes = hi[0] - lo[0], plane = int64_t(bytes) / planes, some = most_waited_for / plane;
            wait && planes > 1 && some < planes) { // a state is as large as the field, for which there may be no room
            for (int64_t i = lo[0]; i < hi[0]; i += std::max<int64_t>(some, 1)) {
                const int64_t from[3] = {i, lo[1], lo[2]},
                              to[3] = {std::min(i + std::max<int64_t>(some, 1), hi[0]), hi[1], hi[2]};
                copy(field, of_level, from, to, static_cast<char *>(host) + (i - lo[0]) * plane, in, true);
            }
            return;
        }
        if (wait)
            settle();
        // A room for each array of the host, used again: those of one exchange are under way together.
        Memory &room = rooms[host];
        if (room.bytes() < bytes)
            room = Memory(bytes);
        Real<T> *packed = static_cast<Real<T> *>(room.data());
        transfers.begin(copies);
        if (in) {
            require(cudaMemcpyAsync(packed, host, bytes, cudaMemcpyHostToDevice, copies), "copy to the card");
            cuda::pack(at(field, of_level), view.stride, box, packed, true, copies);
            arrived.record(copies);
        } else {
            ready.hold(copies);
            cuda::pack(at(field, of_level), view.stride, box, packed, false, copies);
            require(cudaMemcpyAsync(host, packed, bytes, cudaMemcpyDeviceToHost, copies), "copy from the card");
            gone.record(copies);
        }
        transfers.end(copies);
        moved += int64_t(bytes);
        if (wait) {
            copies.wait("copies");
            rooms.erase(host);
        }
    }
    bool copied() override { return gone.reached(); }
    void wait_for_copies() override { gone.wait(); }

    int64_t memories() const override { return int64_t(layer_memories.size()); }
    int64_t memory_bytes(int64_t number) const override { return int64_t(layer_memories.at(number).bytes()); }
    void copy_memory(int64_t number, void *host, bool in) override {
        settle();
        Memory &memory = layer_memories.at(number);
        cuda::copy(in ? memory.data() : host, in ? host : memory.data(), memory.bytes(),
                   in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, "copy of absorbing layers");
    }

    void encode(const void *volume, const int64_t n[3], int bits, void *cells, void *scales) override {
        const int shape_of[3] = {int(n[0]), int(n[1]), int(n[2])};
        pictures.begin(compute);
        cuda::encode(static_cast<const Real<T> *>(volume), shape_of, bits, cells, static_cast<float *>(scales),
                     compute);
        pictures.end(compute);
    }
    void decode(const void *cells, const void *scales, const int64_t n[3], int bits, void *volume) override {
        const int shape_of[3] = {int(n[0]), int(n[1]), int(n[2])};
        pictures.begin(compute);
        cuda::decode(cells, static_cast<const float *>(scales), shape_of, bits, static_cast<Real<T> *>(volume),
                     compute);
        pictures.end(compute);
    }

    void begin_copy(int64_t buffer, void *card, void *host, int64_t bytes, bool in) override {
        InTurns &turns = buffer_of(buffer);
        if (!in)
            turns.used.record(compute);
        turns.used.hold(copies);
        transfers.begin(copies);
        require(cudaMemcpyAsync(in ? card : host, in ? host : card, bytes,
                                in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, copies),
                "copy between card and host");
        transfers.end(copies);
        turns.filled.record(copies);
        moved += bytes;
    }
    void await_copy(int64_t buffer) override { buffer_of(buffer).filled.hold(compute); }
    void used(int64_t buffer) override { buffer_of(buffer).used.record(compute); }

    void settle() override {
        compute.wait("time steps on the card");
        copies.wait("copies between card and host");
        collect();
    }

    Account account() override {
        const Account all{clock.take(), pictures.take(), transfers.take(), moved};
        moved = 0;
        return all;
    }

  private:
    const Shape shape;
    const Layout layout;
    const int models;
    const Steps<T> steps;
    View<T> view{};
    std::vector<Memory> buffers, arrays, layer_memories, small;
    Memory active, series[2], found;
    PinnedMemory staged[2];
    std::map<void *, Memory> rooms;
    std::array<Turn, 2> snapshots, sources;
    Stream compute, copies;
    Event done[2], ready, arrived, gone;
    std::vector<std::unique_ptr<InTurns>> buffers_in_turns;
    Stopwatch clock, pictures, transfers;
    int level = 0, turn = 0, series_turn = 0;
    int64_t moved = 0;
    int64_t next_snapshot = 0, next_source = 0, sources_begun = 0;

    Real<T> *at(int field, int of_level) {
        return static_cast<Real<T> *>(buffers[2 * field + of_level].data()) + layout.origin;
    }

    const Real<T> *keep(const void *values, int64_t n) {
        small.emplace_back(std::max<int64_t>(n, 1) * sizeof(T));
        small.back().copy_in(values, n * sizeof(T));
        return static_cast<const Real<T> *>(small.back().data());
    }

    Real<T> *layer_memory(int64_t (&n)[3], int64_t (&stride)[2]) {
        stride[1] = padded(n[2], 8);
        stride[0] = n[1] * stride[1];
        layer_memories.emplace_back(n[0] * stride[0] * sizeof(T));
        return static_cast<Real<T> *>(layer_memories.back().data());
    }

    InTurns &buffer_of(int64_t number) {
        while (int64_t(buffers_in_turns.size()) <= number) {
            buffers_in_turns.push_back(std::make_unique<InTurns>());
            buffers_in_turns.back()->used.record(compute);
            buffers_in_turns.back()->filled.record(copies);
        }
        return *buffers_in_turns[number];
    }

    // Cells that need no neighbour's, whose half points do not either.
    Box inner() const {
        Box box;
        for (int axis = 0; axis < 3; ++axis) {
            const int64_t n = shape.n[axis], reach = shape.radius;
            const int64_t lo = shape.cut[axis][0] ? std::min(reach, n) : 0;
            box.lo[axis] = int(lo);
            box.hi[axis] = int(shape.cut[axis][1] ? std::max(n - reach, lo) : n);
        }
        return box;
    }

    // Half points that need no neighbour's cells: at least those that the inner cells reach.
    void early_half_points(int (&lo)[3], int (&hi)[3]) const {
        const int pairs = int(shape.radius + 1) / 2;
        for (int axis = 0; axis < 3; ++axis) {
            lo[axis] = shape.cut[axis][0] ? pairs - 1 : -beyond;
            hi[axis] = std::max(lo[axis], shape.cut[axis][1] ? int(shape.n[axis]) - pairs : beyond);
        }
    }

    Box whole() const { return {{0, 0, 0}, {view.n[0], view.n[1], view.n[2]}}; }

    void begin_step(int64_t n, const Job &job) { view.step = int(job.start + n); }

    // What is injected, through pinned memory, in turns with the call before.
    void upload(const Job &job) {
        sources_begun = next_source = 0;
        for (int64_t m = 0; m < job.imaging_steps && m < int64_t(sources.size()); ++m)
            fetch_source(job, m);
        if (!job.sources || !job.injected || job.columns == 0)
            return;
        const std::size_t bytes = job.steps * job.columns * sizeof(T);
        series_turn = 1 - series_turn;
        if (series[series_turn].bytes() < bytes) {
            settle();
            series[series_turn] = Memory(bytes);
        }
        std::memcpy(staged[series_turn].room(bytes), job.injected, bytes);
        require(cudaMemcpyAsync(series[series_turn].data(), staged[series_turn].data(), bytes, cudaMemcpyHostToDevice,
                                compute),
                "copy to the card");
        moved += int64_t(bytes);
    }

    void swap_levels() { set_level(1 - level); }

    void sample_receivers(const Job &job) {
        if (!job.receivers)
            return;
        auto &receivers = *static_cast<BoundPoints<T> *>(static_cast<AnyPoints *>(job.receivers));
        if (receivers.points.view.lines)
            cuda::sample(view, int(shape.fields), receivers.points.view, receivers.next_lines(), compute);
    }

    // What follows the cells: sources, the free surface, imaging.
    void end_step(int64_t n, const Job &job) {
        if (job.sources) {
            const auto &sources = static_cast<BoundPoints<T> *>(static_cast<AnyPoints *>(job.sources))->points;
            const Real<T> *values = static_cast<const Real<T> *>(series[series_turn].data()) + n * job.columns;
            cuda::inject(view, int(shape.fields), sources.view, values, T(job.scale), compute);
        }
        if (shape.free_surface)
            cuda::free_surface(view, int(shape.fields), int(shape.radius), compute);
        for (int64_t m = 0; m < job.imaging_steps; ++m)
            if (job.imaging[m].step == n)
                do_imaging(job.imaging[m], &job);
    }

    static std::size_t cells_bytes(const ImagingStep &imaging) {
        std::size_t cells = sizeof(T);
        for (int axis = 0; axis < 3; ++axis)
            cells *= std::size_t(std::max<int64_t>(imaging.hi[axis] - imaging.lo[axis], 0));
        return cells;
    }

    // Begin to copy the snapshot of an imaging step from the host, which none before it uses any more.
    void fetch_source(const Job &job, int64_t m) {
        const ImagingStep &imaging = job.imaging[m];
        if (!imaging.source || !imaging.source_of_host)
            return;
        Turn &to = sources[sources_begun++ % sources.size()];
        const std::size_t bytes = cells_bytes(imaging);
        if (to.memory.bytes() < bytes)
            settle();
        void *room = to.room(bytes);
        if (to.busy)
            to.used.hold(copies);
        transfers.begin(copies);
        require(cudaMemcpyAsync(room, imaging.source, bytes, cudaMemcpyHostToDevice, copies), "copy to the card");
        transfers.end(copies);
        to.filled.record(copies);
        to.busy = true;
        moved += int64_t(bytes);
    }

    // job: of which this is an imaging step; null: by itself.
    void do_imaging(const ImagingStep &imaging, const Job *job = nullptr) {
        const std::size_t bytes = cells_bytes(imaging);
        if (bytes == 0)
            return;
        Imaging<T> at{static_cast<Real<T> *>(imaging.snapshot), static_cast<const Real<T> *>(imaging.source),
                      static_cast<Real<T> *>(imaging.image), static_cast<Real<T> *>(imaging.illumination)};
        Turn *to = nullptr, *from = nullptr;
        if (imaging.snapshot && imaging.snapshot_of_host) {
            to = &snapshots[next_snapshot++ % snapshots.size()];
            if (to->memory.bytes() < bytes)
                settle();
            at.snapshot = static_cast<Real<T> *>(to->room(bytes));
            if (to->busy)
                to->filled.hold(compute);
        }
        if (imaging.source && imaging.source_of_host) {
            if (!job) {
                Job alone{};
                alone.imaging_steps = 1, alone.imaging = &imaging;
                sources_begun = next_source = 0;
                fetch_source(alone, 0);
            }
            from = &sources[next_source++ % sources.size()];
            from->filled.hold(compute);
            at.source = static_cast<const Real<T> *>(from->memory.data());
        }
        const Box box{{int(imaging.lo[0]), int(imaging.lo[1]), int(imaging.lo[2])},
                      {int(imaging.hi[0]), int(imaging.hi[1]), int(imaging.hi[2])}};
        pictures.begin(compute);
        cuda::image(view, int(shape.fields), box, at, compute);
        pictures.end(compute);
        if (from) {
            from->used.record(compute);
            if (job && sources_begun < job->imaging_steps)
                fetch_source(*job, sources_begun);
        }
        if (to) {
            to->used.record(compute);
            to->used.hold(copies);
            transfers.begin(copies);
            require(cudaMemcpyAsync(imaging.snapshot, at.snapshot, bytes, cudaMemcpyDeviceToHost, copies),
                    "copy from the card");
            transfers.end(copies);
            to->filled.record(copies);
            to->busy = true;
            moved += int64_t(bytes);
        }
    }

    // Arrays of the host are the caller's again.
    void finish_host_copies(const Job &job) {
        for (int64_t m = 0; m < job.imaging_steps; ++m)
            if ((job.imaging[m].snapshot && job.imaging[m].snapshot_of_host) ||
                (job.imaging[m].source && job.imaging[m].source_of_host))
                return settle();
    }

    void collect() {
        clock.collect();
        pictures.collect();
        transfers.collect();
    }
};

} // namespace

std::unique_ptr<AnyWave> make_wave(int64_t itemsize, const Shape &shape) {
    if (itemsize == 4)
        return std::make_unique<Wave<float>>(shape);
    return std::make_unique<Wave<double>>(shape);
}

int64_t wave_bytes(int64_t itemsize, const Shape &shape) {
    const Layout layout(shape);
    return itemsize * (2 * shape.fields * layout.numbers + (shape.fields == 2 ? 3 : 1) * layout.model_numbers);
}

} // namespace fathometer::cuda
