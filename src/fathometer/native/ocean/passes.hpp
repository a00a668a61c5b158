// Passes of tracers along x and y over the columns of a tile, row by row.
#pragma once

#include <vector>

#include "grid.hpp"

namespace fathometer::ocean {

// Columns of one x that follow each other in y: values (tracers, ...), thicknesses, and what is known of the columns.
// All tracers and thicknesses of a column are contiguous along z.
struct Row {
    const double *value;
    int64_t next_tracer; // distance of the values of the next tracer
    const double *thickness;
    const int32_t *levels;
};

// Where a column goes to: its tracers lie next_tracer apart.
struct Target {
    double *value;
    int64_t next_tracer;
    double *thickness;
};

class Passes {
  public:
    Passes(const Grid &grid, double dt, int64_t tracers);

    // Amounts F q_face dt (tracers, nz) through the face between the middle two of four columns that follow each other:
    // column `at[i]` of `rows[i]`; flux F; areas of the middle two.
    void face(const Row rows[4], const int64_t at[4], const double *flux, double area_left, double area_right,
              double *amounts);

    // The column after a pass, from what moves through its two faces.
    void column(const Row &row, int64_t at, const double *flux_in, const double *flux_out, const double *amounts_in,
                const double *amounts_out, double area, const Target &to) const;

    // What lateral diffusion adds to content / area in dt, and the flux through the surface: (tracers, next_tracer).
    void diffusion(double diffusivity, const double *value, const double *eta, int64_t block, int64_t x, int64_t y,
                   double *added, int64_t next_tracer) const;

  private:
    const Grid &grid;
    double dt;
    int64_t tracers;
    std::vector<double> moved, part, upstream;
};

} // namespace fathometer::ocean
