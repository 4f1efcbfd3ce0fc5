// The bulk operations of a sweep. One interface; `reference` is slow and obvious, `cpu` is fast, and from the same state and
// seed they make the same draws, but for roundings that flip one draw in a great many.
#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/matrix.hpp"
#include "base/pool.hpp"
#include "base/random.hpp"
#include "kernel/candidates.hpp"
#include "model/state.hpp"
#include "ztp/buffer.hpp"

namespace ztp {

// A CP rate: z = scale * sum_r weight[r] prod_k u[k][i_k, r], with u[k] holding n_k u^(k) and the largest weight one.  (M2)
// A network is the case K = 2 with the same matrix twice and weights 2 beta.
struct Rates {
  std::size_t R = 0;
  std::vector<const Matrix<float>*> u;  // K
  std::vector<float> weight;            // R, padded with zeros
  std::vector<double> log_weight;       // R, of the unscaled weights: where a rate underflows, shares come from logs
  double scale = 0;
  double log_volume = 0;  // sum_k log n_k
  double total = 0;       // sum_r of the unscaled weights: the rate of all cells together
};
Rates make_rates(std::vector<const Matrix<float>*> u, const std::vector<double>& log_weight, double factor = 1);
// Of the cells of the tensor.
Rates tensor_rates(const State& state);

// Which entries each row of a mode has, so that counts can be added up row by row instead of entry by entry.
struct RowIndex {
  Buffer<std::uint64_t> begin;  // n + 1: row j has those from begin[j] to begin[j + 1] of `entry`
  Buffer<std::uint32_t> entry;  // empty: all entries in order, as in the first mode of sorted entries
};
// One index for each column of the coordinates; with `shared`, one for both ends of an edge, for which they are rows of one matrix.
// None, if there are too many entries for 32 bits.
std::vector<RowIndex> index_rows(const std::uint32_t* coords, std::size_t count, const std::vector<std::size_t>& sizes,
                                 bool shared = false);

// The ones (or edges, or listed missing cells) whose latent counts are to be drawn.
struct Entries {
  const std::uint32_t* coords = nullptr;   // count x K
  const std::int64_t* observed = nullptr;  // counts, if they are observed; else each is zero-truncated Poisson
  std::size_t count = 0;
  bool missing = false;  // not observed at all: each is Poisson, zero included
  // A one of rate zero is no error but goes to any component, and is left out of the likelihood. For a chain's first sweep, and online,
  // where factors of entities that have not been met yet may be too small for floats.
  bool anywhere = false;
  bool bounded = false;    // components are found by way of bounds on blocks of them: for many components
  bool likelihood = true;  // if not, and it would cost extra, it is not computed
  const std::vector<RowIndex>* by_row = nullptr;  // of the matrices in Sums::rows, the first ones; null: no index
};

// Rows or entries begin..end-1.
struct Range {
  std::size_t begin, end;
};

// Some rows of a mode: those j with mask[j] == wanted, or all of them without a mask.
struct Rows {
  const std::uint8_t* mask = nullptr;
  std::uint8_t wanted = 1;
  bool contains(std::size_t j) const { return mask == nullptr || mask[j] == wanted; }
};

// How often each positive value occurs in a matrix of counts, by value.
using Tally = std::vector<std::pair<std::int64_t, std::int64_t>>;

// One positive y_er. All of them, in the order of the entries, come in blocks that follow each other.
struct Part {
  std::uint32_t entry, component;
  std::int64_t count;
};
using Allocation = std::vector<std::vector<Part>>;

// Where latent counts are added up: rows[k][i_k, r] and totals[r].
struct Sums {
  std::vector<Matrix<std::int64_t>*> rows;  // K
  std::int64_t* totals = nullptr;           // R
  Allocation* parts = nullptr;              // if not null, the parts themselves are written there
  bool fresh = false;                       // what is in the rows is overwritten, not added to
  std::int64_t unit = 1;  // what a count adds: weighted sums stay integers, and so independent of their order
  // Not a draw is added but its expectation, to the nearest whole number; no parts, never bounded.
  bool expected = false;
};

// The counts from which the columns of a mode are drawn: u[., r] ~ Dirichlet(a + scale S[., r]).
struct Columns {
  const Matrix<std::int64_t>& S;
  double a;
  double scale = 1;
  // If given, only these rows of u are written, each once. What they add up to with the others is still one: `totals`, the sums of the
  // columns of scale S, tell what the others have.
  const std::vector<std::uint32_t>* rows = nullptr;
  const std::vector<double>* totals = nullptr;
};

// value times 2^bits, to the nearest whole number; no value is negative.
inline std::int64_t shifted(std::int64_t value, int bits) {
  return bits >= 0 ? value << bits : (value + (std::int64_t{1} << (-bits - 1))) >> -bits;
}

// value moved by `part` of the way to another, to the nearest whole number.
inline std::int64_t moved(std::int64_t value, std::int64_t towards, double part) {
  return value + static_cast<std::int64_t>(std::llround(part * static_cast<double>(towards - value)));
}

// The order in which components are searched by a categorical draw: 0, 16, 32, ..., 1, 17, ...: the order that lets 16 lanes
// add up their parts of the rate side by side.
std::vector<std::size_t> search_order(std::size_t R);

// Counts are placed on blocks of this many rows first and on rows second, so that rows without any are hardly looked at. Part of
// what a seed means.
inline constexpr std::size_t rows_per_place = 256;

class Kernel {
 public:
  virtual ~Kernel() = default;

  // Makes room for this many entries to be allocated at once, so that a run that cannot have it fails before its first sweep.
  virtual void reserve(std::size_t /*entries*/) {}

  // y_e and its parts y_er, added into sums.                                               (M3), (M4)
  // Reads coordinates and rates, writes sums, O(count R K). Returns the log-likelihood of the entries without the part that
  // all cells share, -z: sum of log(exp(z) - 1), or of y log z - log y! for observed counts, or of z for missing cells. Not a number,
  // if it is bounded and the likelihood not asked for.
  virtual double allocate(const Entries& entries, const Rates& rates, StreamKey key, std::uint32_t sweep,
                          const Sums& sums) = 0;

  // u[., r] ~ Dirichlet(a + scale S[., r]), stored times n.                                (M5)
  // Reads S, writes u, O(rows R). Returns what each column added up to before it was normalised: positive and finite, or else a value
  // in it has gone bad, and the column is left as it was drawn, so that the bad value can be told from the others.
  virtual std::vector<double> draw_columns(const Columns& columns, StreamKey key, std::uint32_t sweep,
                                           Matrix<float>& u) = 0;

  // The means of the same, (a + scale S[j, r]) / (n a + totals[r]), stored times n. `totals` must be given.  (M28)
  // Reads S, writes u, O(rows R).
  virtual void mean_columns(const Columns& columns, Matrix<float>& u) = 0;

  // The diagonal of a network is not data: X_iir ~ Poisson(beta_r u[i, r]^2), two ends at i.  (M12)
  // Reads u and log beta, adds into sums.rows[0] and sums.totals, O(n R). Returns the rate of the whole diagonal.
  virtual double impute_diagonal(const Matrix<float>& u, const std::vector<double>& log_beta, StreamKey key,
                                 std::uint32_t sweep, const Sums& sums) = 0;

  // sum over the rows of u^(k)[j, r], for each r: O(n R).
  virtual std::vector<double> column_mass(const Matrix<float>& u, Rows rows) = 0;

  // Places totals[r] counts on the rows in proportion to u[., r], each adding sums.unit to sums.rows[0].      (M18)
  // Reads u, O(n R + blocks of rows that get any).
  virtual void place(const Matrix<float>& u, Rows rows, const std::vector<std::int64_t>& totals, const Streams& streams,
                     const Sums& sums) = 0;

  // Adds factor[r] u[j, r]^power to S[j, r] for these rows, to the nearest whole number: expectations of counts so placed.
  // Reads u, O(n R).
  virtual void spread(const Matrix<float>& u, Rows rows, int power, const std::vector<double>& factor,
                      Matrix<std::int64_t>& S) = 0;

  // Multiplies S by 2^bits; with bits below zero, to the nearest whole number. O(n R).
  virtual void shift(int bits, Matrix<std::int64_t>& S) = 0;

  // Moves S by `part` of the way to `towards`, to the nearest whole number. O(n R).
  virtual void move(const Matrix<std::int64_t>& towards, double part, Matrix<std::int64_t>& S) = 0;

  // What learning the Dirichlet parameter needs to know of S, O(n R).                           (M20)
  virtual Tally tally(const Matrix<std::int64_t>& S) = 0;

  // z of every cell, O(count R K).                                                             (M2)
  virtual void score(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* z) = 0;

  // sums[q, j] += 1 - exp(-z[q, j]) in each of the draws, for the queries q of so many tiles and all candidates j that sums has columns
  // for. The sums are floats: at most one rounding of 6e-8 a draw.                               (M16)
  // O(queries candidates R) a draw.
  virtual void add_probabilities(std::span<const CandidateDraw> draws, std::size_t R, std::size_t tiles,
                                 Matrix<float>& sums) = 0;
};

// name: "cpu" or "reference".
std::unique_ptr<Kernel> make_kernel(const std::string& name, Pool& pool);

}  // namespace ztp
