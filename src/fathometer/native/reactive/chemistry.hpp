// Equilibrium among aqueous species, and the kinetics of minerals.
//
// Unknowns are u_j = ln c_j of the n primary species, c in mol/kg of water. Mass action gives the m secondary species,
//
//     a_i = K_i prod_j a_j^nu_ij,   a = gamma c,
//
// the water's activity being 1. With I = 1/2 sum z² c over all species, s = sqrt(I),
//
//     ln gamma / ln 10 = -A z² (s / (1 + s) - 0.3 I)            Davies (1962, Ion Association), charged species
//     ln gamma / ln 10 = -A z² s / (1 + B å s) + b I            extended Debye-Hückel (Truesdell & Jones 1974)
//     ln gamma / ln 10 = b I                                    uncharged species, with both
//
// s solves F(s) = s² - 1/2 sum z² c(u, s) = 0, found from u alone; derivatives of s follow from F's. Totals are
// Psi_j = c_j + sum_i nu_ij c_i.
//
// A mineral dissolves into nu_j of the primary species at the rate R, mol/(m³ s) of bulk, by transition-state theory
// (Lasaga 1984, J. Geophys. Res. 89), its amount M in mol/m³ of bulk changing implicitly in time:
//
//     Omega = prod_j a_j^nu_j / K,   M' = M - dt R
//     Omega <  1:  R = k s M' (1 - Omega)         hence M' = M / (1 + dt k s (1 - Omega)), never below 0
//     Omega >= 1:  R = k (s M + s0) (1 - Omega)
#pragma once

#include <cstdint>
#include <vector>

namespace fathometer::reactive {

constexpr int most_primary = 16, most_secondary = 48, most_minerals = 16;
constexpr int most_species = most_primary + most_secondary, most_reactions = most_secondary + most_minerals;

enum class Activity { ideal, davies, debye_huckel };

// Species in the order primary, secondary. Matrices are stored by rows.
struct System {
    int primary, secondary, minerals;    // n, m, k
    std::vector<double> stoichiometry;   // (m, n)
    std::vector<double> ln_k;            // (m)
    std::vector<double> charge;          // (n + m)
    std::vector<double> ion_size, ion_b; // (n + m), ångström, kg/mol
    std::vector<double> mineral;         // stoichiometry (k, n)
    std::vector<double> mineral_ln_k;    // (k)
    std::vector<double> rate_constant;   // (k), mol/(m² s)
    std::vector<double> specific_area;   // (k), m²/mol
    std::vector<double> nucleation_area; // (k), m²/m³ of bulk
    Activity activity;
    double a, b; // (kg/mol)^1/2, (kg/mol)^1/2 / ångström

    int species() const { return primary + secondary; }
};

struct Water;
struct Dissolution;

// Results are those of a cell by itself, whatever the number of cells, their order and the threads. Where the ionic
// strength has no solution, or a number overflows, results are NaN or infinite.
class Chemistry {
  public:
    explicit Chemistry(System system);

    const System system;

    // ln_c (cells, n) to totals (cells, n), mol/kg, and, where not null, derivative[j, k] = d totals_j / d u_k (cells,
    // n, n).
    void totals(int64_t cells, const double *ln_c, double *totals, double *derivative) const;

    // ln_c (cells, n) and old amounts (cells, k) to new amounts and rates (cells, k); where not null, derivative[i, j]
    // = d rate_i / d u_j (cells, k, n).
    void rates(int64_t cells, const double *ln_c, const double *old, double dt, double *amount, double *rate,
               double *derivative) const;

    // The same, with what the minerals give to the water: reaction_j = share sum_i nu_ij R_i (cells, n), share (cells),
    // and, where not null, derivative[j, l] = d reaction_j / d u_l (cells, n, n).
    void reaction(int64_t cells, const double *ln_c, const double *old, double dt, const double *share, double *amount,
                  double *reaction, double *derivative) const;

    // ln_c (cells, n) to ln a and, where not null, ln c of all species (cells, n + m), and I (cells), mol/kg.
    void species(int64_t cells, const double *ln_c, double *ln_activity, double *ln_molality, double *strength) const;

  private:
    void set(Water &water, const double *ln_c, int64_t cells) const;
    void speciate(Water &water) const;
    void differentiate(Water &water) const;
    void dissolve(const Water &water, double dt, Dissolution &minerals, bool derivative) const;
    void sizes_at(Water &water) const;

    // ln c_i of reaction i is constant_i + sum_j nu_ij u_j - sum_t debye_it s / (1 + size_t s) + linear_i s²; secondary
    // species first, then minerals, whose ln Omega is meant.
    int sizes;                            // different B å of charged species
    std::vector<double> size;             // (sizes)
    std::vector<int> size_of;             // (n + m)
    std::vector<double> gamma_size;       // (n + m), ln 10 A z²
    std::vector<double> gamma_b;          // (n + m), factor of I
    std::vector<double> nu;               // (m + k, n)
    std::vector<double> constant, linear; // (m + k)
    std::vector<double> debye;            // (m + k, sizes)
    std::vector<double> half_z2;          // (n + m), z² / 2
};

} // namespace fathometer::reactive
