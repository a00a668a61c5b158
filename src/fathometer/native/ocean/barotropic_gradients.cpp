#include "barotropic_gradients.hpp"

#include <cmath>

namespace fathometer::ocean {

namespace {

struct Pair {
    VectorName v, w;
};
constexpr Pair pairs[product_count] = {
    {vector_b, vector_b}, {vector_p, vector_s}, {vector_r, vector_u}, {vector_w, vector_u}, {vector_r, vector_r}};

} // namespace

int products_of(SumsName which, int (&products)[most_sums]) {
    const auto set = [&](std::initializer_list<ProductName> names) {
        std::copy(names.begin(), names.end(), products);
        return int(names.size());
    };
    switch (which) {
    case sums_bb:
        return set({product_bb});
    case sums_ps:
        return set({product_ps});
    case sums_ru_rr:
        return set({product_ru, product_rr});
    case sums_ru_wu_rr:
        return set({product_ru, product_wu, product_rr});
    default:
        return 0;
    }
}

Gradients::Gradients(const WaterRows &rows, const SurfaceOperator &matrix, const Preconditioner &preconditioner,
                     Sums &sums, double *vectors)
    : rows(rows), matrix(matrix), preconditioner(preconditioner), sums(sums), vectors(vectors) {}

Products Gradients::products(SumsName which) const {
    Products found;
    found.count = products_of(which, found.number);
    for (int n = 0; n < found.count; ++n) {
        found.v[n] = vector(pairs[found.number[n]].v);
        found.w[n] = vector(pairs[found.number[n]].w);
    }
    return found;
}

Products Gradients::begin(SumsName which) {
    const Products found = products(which);
    if (found.count)
        sums.begin(found.number, found.count);
    return found;
}

void Gradients::add(const Products &products, const WaterRow &row, int64_t number) {
    for (int n = 0; n < products.count; ++n)
        sums.add(n, row, number, products.v[n], products.w[n]);
}

void Gradients::load(const double *b, const double *x, const uint8_t *wet) {
    double *own_b = vector(vector_b), *own_x = vector(vector_x);
    rows.over_rows([&](const WaterRow &row, int64_t) {
        for (int64_t k = row.start + row.y0; k < row.start + row.y1; ++k) {
            own_b[k] = wet[k] ? b[k] : 0.0;
            own_x[k] = wet[k] ? x[k] : 0.0;
        }
    });
}

void Gradients::unload(double *x, const uint8_t *wet) const {
    const double *own = vector(vector_x);
    rows.over_rows([&](const WaterRow &row, int64_t) {
        for (int64_t k = row.start + row.y0; k < row.start + row.y1; ++k)
            x[k] = wet[k] ? own[k] : x[k];
    });
}

void Gradients::apply(VectorName from, VectorName to, SumsName which) {
    const Products products = begin(which);
    matrix.apply(vector(from), vector(to), products, sums);
}

void Gradients::residual() { matrix.residual(vector(vector_b), vector(vector_x), vector(vector_r)); }

void Gradients::precondition(VectorName from, VectorName to) { preconditioner.apply(vector(from), vector(to)); }

void Gradients::dot(SumsName which) {
    const Products products = begin(which);
    rows.over_rows([&](const WaterRow &row, int64_t number) { add(products, row, number); });
}

void Gradients::largest(SumsName which, double *most) const {
    const Products found = products(which);
    std::fill(most, most + found.count, 0.0);
    for (const WaterRow &row : rows.rows)
        for (int n = 0; n < found.count; ++n)
            most[n] = std::max(most[n], Sums::largest(row, found.v[n], found.w[n]));
}

void Gradients::pcg_update(double alpha) {
    double *x = vector(vector_x), *r = vector(vector_r), *u = vector(vector_u);
    const double *p = vector(vector_p), *s = vector(vector_s), *inverse = preconditioner.inverse();
    const bool diagonal = preconditioner.diagonal();
    const Products products = begin(sums_ru_rr);
    rows.over_rows([&](const WaterRow &row, int64_t number) {
        const int64_t from = row.start + row.y0, to = row.start + row.y1;
        for (int64_t k = from; k < to; ++k) {
            x[k] += alpha * p[k];
            r[k] -= alpha * s[k];
        }
        if (!diagonal)
            return;
        for (int64_t k = from; k < to; ++k)
            u[k] = inverse[k] * r[k];
        add(products, row, number);
    });
    if (diagonal)
        return;
    preconditioner.apply(r, u);
    dot(sums_ru_rr);
}

void Gradients::pcg_direction(double beta) {
    double *p = vector(vector_p);
    const double *u = vector(vector_u);
    rows.over_rows([&](const WaterRow &row, int64_t) {
        for (int64_t k = row.start + row.y0; k < row.start + row.y1; ++k)
            p[k] = u[k] + beta * p[k];
    });
}

void Gradients::gear_update(double alpha, double beta) {
    double *x = vector(vector_x), *r = vector(vector_r), *u = vector(vector_u), *p = vector(vector_p),
           *s = vector(vector_s);
    const double *w = vector(vector_w), *inverse = preconditioner.inverse();
    const bool diagonal = preconditioner.diagonal();
    rows.over_rows([&](const WaterRow &row, int64_t) {
        const int64_t from = row.start + row.y0, to = row.start + row.y1;
#pragma GCC ivdep
        for (int64_t k = from; k < to; ++k) {
            const double direction = u[k] + beta * p[k], image = w[k] + beta * s[k];
            p[k] = direction;
            s[k] = image;
            x[k] += alpha * direction;
            r[k] -= alpha * image;
        }
        if (diagonal)
            for (int64_t k = from; k < to; ++k)
                u[k] = inverse[k] * r[k];
    });
    if (!diagonal)
        preconditioner.apply(r, u);
}

void Gradients::pipelined_update(double alpha, double beta) {
    double *x = vector(vector_x), *r = vector(vector_r), *u = vector(vector_u), *w = vector(vector_w),
           *p = vector(vector_p), *s = vector(vector_s), *q = vector(vector_q), *z = vector(vector_z);
    const double *m = vector(vector_m), *n = vector(vector_n);
    const Products products = begin(sums_ru_wu_rr);
    rows.over_rows([&](const WaterRow &row, int64_t number) {
        const int64_t from = row.start + row.y0, to = row.start + row.y1;
#pragma GCC ivdep
        for (int64_t k = from; k < to; ++k) {
            const double new_z = n[k] + beta * z[k], new_q = m[k] + beta * q[k];
            const double new_s = w[k] + beta * s[k], new_p = u[k] + beta * p[k];
            z[k] = new_z;
            q[k] = new_q;
            s[k] = new_s;
            p[k] = new_p;
            x[k] += alpha * new_p;
            r[k] -= alpha * new_s;
            u[k] -= alpha * new_q;
            w[k] -= alpha * new_z;
        }
        add(products, row, number);
    });
}

} // namespace fathometer::ocean
