// The bulk operations of a sweep. One interface; `reference` is slow and obvious, `cpu` is fast, and from the same
// state and seed they make the same draws, except where rounding flips one, which is very rare.
//
// A kernel makes and owns what is large: ones, factors and counts are handles (Ones, Factors, Counts) whose memory need
// not be the host's. What has a value for each component is on the host. Random streams are keyed by the number of a
// one or a row among all of them, so that a part of the data draws what the whole would.
#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/exact_sum.hpp"
#include "base/pool.hpp"
#include "base/random.hpp"
#include "kernel/candidates.hpp"
#include "model/rates.hpp"
#include "ztp/buffer.hpp"
#include "ztp/options.hpp"

namespace ztp {

// Cells whose latent counts are to be drawn, on the host: ones, edges of a network, or cells that are missing.
struct HostCells {
  const std::uint32_t* coords = nullptr;   // count x K
  const std::int64_t* observed = nullptr;  // counts, if they are observed; else each is zero-truncated Poisson
  std::size_t count = 0;
  bool missing = false;  // not observed at all: each is Poisson, zero included
  // The number of the first of them among all: what their random streams are keyed by. The others follow, unless
  // `numbers` has the number of each.
  std::uint64_t first = 0;
  // Whether to index the cells of each row, so that counts can be added up row by row. For cells that are drawn again
  // and again. They must be sorted by their first coordinate.
  bool indexed = false;
  const std::uint64_t* numbers = nullptr;

  std::uint64_t number(std::size_t e) const { return numbers == nullptr ? first + e : numbers[e]; }
};

// The same, where a kernel can work on them. A kernel may refer to the arrays of the host for as long as the handle
// lives.
class Ones {
 public:
  explicit Ones(const HostCells& cells) : count_(cells.count), missing_(cells.missing), first_(cells.first) {}
  virtual ~Ones() = default;
  Ones(const Ones&) = delete;
  Ones& operator=(const Ones&) = delete;

  std::size_t count() const { return count_; }
  bool missing() const { return missing_; }
  std::uint64_t first() const { return first_; }
  virtual std::size_t bytes() const = 0;  // that the kernel has added

 private:
  std::size_t count_;
  bool missing_;
  std::uint64_t first_;
};

// One positive y_er. All of them, in the order of the entries, come in blocks that follow each other.
struct Part {
  std::uint32_t entry, component;
  std::int64_t count;
};
using Allocation = std::vector<std::vector<Part>>;

// How latent counts are drawn, and what each adds to the statistics.
struct DrawSettings {
  std::uint32_t t = 0;    // the step: which of the random numbers of a key
  std::int64_t unit = 1;  // what a count adds: weighted sums stay integers, and so independent of their order
  // Not a draw is added but its expectation, to the nearest whole number; no parts, never bounded.              (M26)
  bool expected = false;
  bool likelihood = true;  // if not, and it would cost extra, it is not computed
  bool bounded = false;    // components are found by way of bounds on blocks of them: for many components        (M24)
  // A one of rate zero is no error but goes to any component, and is left out of the likelihood. For a chain's first
  // sweep, and online, where factors of entities that have not been met yet may be too small for floats.
  bool anywhere = false;
  bool fresh = false;           // what is in the rows is overwritten, not added to; totals are always added to
  Allocation* parts = nullptr;  // if not null, the parts themselves are written there
};

// Where latent counts are added up: S[i_k, c(r, k)] of the matrix of each mode k, and totals[r]. No pointer is null,
// and no two are the same. After an exception their values are undefined.
struct CountSums {
  const FactorLayout* layout = nullptr;
  std::vector<Counts*> rows;       // of each matrix of the layout
  std::int64_t* totals = nullptr;  // R
};

// Ones of a model with components of its own, one of several that are drawn together (model/entity_model.hpp).
struct CountGroup {
  const Ones* ones;
  Rates rates;
  CountSums sums;                // groups may have rows in common
  Allocation parts = {};         // result: as DrawSettings::parts
  ExactSum log_likelihood = {};  // result: what allocate returns
};

// Some rows of a matrix: those j with mask[j] == wanted, or all of them without a mask.
struct RowMask {
  const std::uint8_t* mask = nullptr;
  std::uint8_t wanted = 1;
  bool contains(std::size_t j) const { return mask == nullptr || mask[j] == wanted; }
};

// How often each positive value occurs in a matrix of counts, by value.
using Tally = std::vector<std::pair<std::int64_t, std::int64_t>>;

// The counts from which columns are drawn: u[., q] ~ Dirichlet(a + scale S[., q]).
struct Columns {
  const Counts& S;
  double a;
  double scale = 1;
  // If given, only these rows of u are written, each once, in ascending order.
  const std::vector<std::uint32_t>* rows = nullptr;
};

// value times 2^bits, to the nearest whole number; no value is negative.
inline std::int64_t shifted(std::int64_t value, int bits) {
  return bits >= 0 ? value << bits : (value + (std::int64_t{1} << (-bits - 1))) >> -bits;
}

// value moved by `part` of the way to another, to the nearest whole number.
inline std::int64_t moved(std::int64_t value, std::int64_t towards, double part) {
  return value + static_cast<std::int64_t>(std::llround(part * static_cast<double>(towards - value)));
}

// The order in which components are searched by a categorical draw: 0, 16, 32, ..., 1, 17, ...: the order that lets 16
// lanes add up their parts of the rate side by side.
std::vector<std::size_t> search_order(std::size_t R);

// Counts are placed on blocks of this many rows first and on rows second, so that rows without any are hardly looked
// at. Part of what a seed means.
inline constexpr std::size_t rows_per_place = 256;

class Kernel : public ArrayMaker {
 public:
  // ---- ones

  // layout: which matrix each coordinate is a row of; needed for the call alone.
  // Another thread may call it while the kernel computes.
  virtual std::unique_ptr<Ones> upload(const HostCells& cells, const FactorLayout& layout) = 0;
  // Makes uploads from this memory of the host faster, until what is returned is released. Null: there is nothing to
  // make faster.
  virtual std::shared_ptr<void> pin(void* /*memory*/, std::size_t /*bytes*/) { return nullptr; }
  // Whether the cores of the host have nothing to do while it computes.
  virtual bool computes_elsewhere() const { return false; }
  // Makes room for this many ones to be allocated at once, so that a run that cannot have it fails before its first
  // sweep.
  virtual void reserve(std::size_t /*ones*/) {}

  // y_e and its parts y_er, added into sums.                                               (M3), (M4)
  // Reads coordinates and rates, writes sums, O(count R K). Returns the log-likelihood of the entries without the part
  // that all cells share, -z: sum of log(exp(z) - 1), or of y log z - log y! for observed counts, or of z for missing
  // cells. Not a number, if it is bounded and the likelihood not asked for.
  virtual ExactSum allocate(const Ones& ones, const Rates& rates, StreamKey key, const DrawSettings& settings,
                            const CountSums& sums) = 0;
  // The same for several groups of ones, which may go in parallel. Not for settings that are fresh or expected. What
  // stands here draws them one after the other.
  virtual void allocate_groups(std::span<CountGroup> groups, StreamKey key, const DrawSettings& settings);
  // Where a chain starts: every one, or all of its observed count, in a component that is uniform at random. O(count
  // K).
  virtual void allocate_at_random(const Ones& ones, StreamKey key, const CountSums& sums) = 0;

  // ---- columns: draw_columns (kernel/draw_columns.hpp) makes Dirichlet draws of the first three

  // Floats hold gamma draws of shapes from here on. Of smaller ones, draw_in_logs makes the columns.
  virtual double smallest_shape() const = 0;
  // u[j, q] ~ Gamma(a + scale S[j, q], 1). Reads S, writes u, O(rows P).                    (M5)
  virtual void draw_gammas(const Columns& columns, StreamKey key, std::uint32_t t, Factors& u) = 0;
  // What each column of u adds up to over these rows, in fixed blocks and a fixed order. O(rows P).
  virtual std::vector<double> sum_columns(const Columns& columns, const Factors& u) = 0;
  // u[j, q] *= factor[q]. O(rows P).
  virtual void scale_columns(const Columns& columns, const std::vector<float>& factor, Factors& u) = 0;
  // All three for all rows, where a kernel can do so while the host goes on: false, if it cannot. Columns whose sum is
  // below smallest_sum become zero. No other call may use u before end_columns.
  virtual bool begin_columns(const Columns& /*columns*/, StreamKey /*key*/, std::uint32_t /*t*/, Factors& /*u*/) {
    return false;
  }
  // Several matrices may be begun, and are then drawn together: from here on.
  virtual void start_columns() {}
  // When they are drawn: what sum_columns would have told of them.
  virtual std::vector<double> end_columns(const Factors& /*u*/) { return {}; }
  // Below this the sum of a column of floats may have lost the draws that make it up.
  static constexpr double smallest_sum = 1e-20;
  // By what such a column of n rows is multiplied, so that it adds up to n. Zero, if its draws are lost; one, if it has
  // gone bad.
  static float column_factor(std::size_t n, double sum) {
    if (sum < smallest_sum) return 0.0f;
    return std::isfinite(sum) ? static_cast<float>(static_cast<double>(n) / sum) : 1.0f;
  }
  // Some columns q, drawn by way of logarithms from the same streams, and scaled so that each adds up to n.
  // log_rest[q]: one more draw, which is part of the sum and not written; empty: none. Slow. Returns what they added up
  // to relative to the largest draw: positive and finite, or else a value has gone bad, and the column is left as it
  // was drawn.
  virtual std::vector<double> draw_in_logs(const Columns& columns, const std::vector<std::size_t>& which,
                                           const std::vector<double>& log_rest, StreamKey key, std::uint32_t t,
                                           Factors& u) = 0;
  // sum over columns.rows of S[j, q], for each q. O(rows P).
  virtual std::vector<std::int64_t> sum_counts(const Columns& columns) = 0;

  // u[j, q] = (a + scale S[j, q]) factor[q]. Reads S, writes u, O(rows P).                    (M28)
  virtual void mean_columns(const Columns& columns, const std::vector<float>& factor, Factors& u) = 0;

  // ---- what is imputed

  // The diagonal of a network is not data: X_iiq ~ Poisson(beta_q u[i, q]^2), two ends at i.  (M12)
  // Reads u and log beta, adds into S and totals, O(n P). Returns the rate of the whole diagonal.
  virtual double impute_diagonal(const Factors& u, const std::vector<double>& log_beta, StreamKey key,
                                 const DrawSettings& settings, Counts& S, std::int64_t* totals) = 0;

  // sum over the rows of u[j, q], for each q: O(n P).
  virtual std::vector<double> column_mass(const Factors& u, RowMask rows) = 0;

  // Places totals[q] counts on the rows in proportion to u[., q], each adding `unit` to S.      (M18)
  // Reads u, O(n P + blocks of rows that get any).
  virtual void place(const Factors& u, RowMask rows, const std::vector<std::int64_t>& totals, const Streams& streams,
                     std::int64_t unit, Counts& S) = 0;

  // Adds factor[q] u[j, q]^power to S[j, q] for these rows, to the nearest whole number: expectations of counts so
  // placed.
  // Reads u, O(n P).
  virtual void spread(const Factors& u, RowMask rows, int power, const std::vector<double>& factor, Counts& S) = 0;

  // ---- counts

  // Multiplies S by 2^bits; with bits below zero, to the nearest whole number. O(n P).
  virtual void shift(int bits, Counts& S) = 0;
  // Moves S by `part` of the way to `towards`, to the nearest whole number. O(n P).
  virtual void move(const Counts& towards, double part, Counts& S) = 0;
  // What learning the Dirichlet parameter needs to know of S, O(n P).                           (M20)
  virtual Tally tally(const Counts& S) = 0;

  // ---- scores

  // z of every cell, O(count R K).                                                             (M2)
  virtual void score(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* z) = 0;
  // The same for cells that are scored in many draws: uploaded once.
  virtual void score(const Ones& cells, const Rates& rates, double* z) = 0;
  // The parts of z that the components have, count x R: O(count R K).                          (M2)
  virtual void score_parts(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* parts) = 0;
  // For ranking by draws of this layout, or with other columns of components.
  virtual std::unique_ptr<CandidateRanking> candidates(const FactorLayout& layout,
                                                       const CandidateSettings& settings) = 0;
  // Bytes of arrays that may still be made, to keep draws that are scored again and again. Zero: they are no faster
  // to reach than the file.
  virtual std::size_t room_for_draws() const { return 0; }
};

std::unique_ptr<Kernel> make_kernel(KernelName name, Pool& pool);
// The kernel of a device, if there is one and it pays for work that would take one thread so many seconds; else null.
std::unique_ptr<Kernel> make_device_kernel(double seconds, unsigned threads);

}  // namespace ztp
