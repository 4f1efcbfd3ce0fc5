#include "kernel/cpu/allocate.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <limits>

#include "kernel/entry_draw.hpp"
#include "ztp/error.hpp"

namespace ztp::cpu {
namespace {

constexpr std::size_t entries_per_block =
    4096;  // fixed: sums of log-likelihoods are made in this order for any threads

// The products weight[r] prod_k u[k][i_k, r] of one cell after another. Cells come sorted, so the product over the leading
// modes is kept for as long as their coordinates stay the same.
class Products {
 public:
  explicit Products(const Rates& rates)
      : rates_(rates), K_(rates.u.size()), stride_(padded(rates.R)), last_(K_, no_row), partial_(K_, stride_) {}

  // Computes the products of `cell` and returns their sum; lane_sum()[l] is the sum of the products l, l + 16, l + 32, ...
  float compute(const std::uint32_t* cell) {
    std::size_t k = 0;
    while (k < K_ - 1 && cell[k] == last_[k]) ++k;
    for (; k < K_ - 1; ++k) {
      const float* before = k == 0 ? rates_.weight.data() : partial_.row(k - 1);
      multiply(before, rates_.u[k]->row(cell[k]), partial_.row(k));
      last_[k] = cell[k];
    }
    const float* before = partial_.row(K_ - 2);
    const float* row = rates_.u[K_ - 1]->row(cell[K_ - 1]);
    float* product = partial_.row(K_ - 1);
    float sums[lanes] = {};
    for (std::size_t b = 0; b < stride_; b += lanes)
      for (std::size_t l = 0; l < lanes; ++l) {
        product[b + l] = before[b + l] * row[b + l];
        sums[l] += product[b + l];
      }
    float total = 0;
    for (std::size_t l = 0; l < lanes; ++l) {
      lane_sum_[l] = sums[l];
      total += sums[l];
    }
    return total;
  }

  const float* product() const { return partial_.row(K_ - 1); }
  const float* lane_sum() const { return lane_sum_; }
  std::size_t stride() const { return stride_; }

 private:
  static constexpr std::uint32_t no_row = std::numeric_limits<std::uint32_t>::max();

  void multiply(const float* a, const float* b, float* out) const {
    for (std::size_t r = 0; r < stride_; ++r) out[r] = a[r] * b[r];
  }

  const Rates& rates_;
  std::size_t K_;
  std::size_t stride_;
  std::vector<std::uint32_t> last_;  // coordinates that partial_ holds
  Matrix<float> partial_;            // row k: the product over modes 0..k
  float lane_sum_[lanes];
};

// The component at which the running sum in search order passes u * total. Never one with share zero: where rounding runs
// past the end, the last positive one is taken.
std::size_t find_component(const Products& products, float total, double u) {
  double target = u * static_cast<double>(total);
  std::size_t lane = lanes;
  for (std::size_t l = 0; l < lanes; ++l) {
    const double share = static_cast<double>(products.lane_sum()[l]);
    if (share <= 0) continue;
    lane = l;
    if (target < share) break;
    target -= share;
  }
  std::size_t found = 0;
  for (std::size_t r = lane; r < products.stride(); r += lanes) {
    const double share = static_cast<double>(products.product()[r]);
    if (share <= 0) continue;
    found = r;
    if (target < share) break;
    target -= share;
  }
  return found;
}

// One block of entries: draws and adds up.
class Allocator {
 public:
  Allocator(const Entries& entries, const Rates& rates, StreamKey key, std::uint32_t sweep, const Sums& sums,
            bool shared)
      : entries_(entries),
        rates_(rates),
        key_(key),
        sweep_(sweep),
        sums_(sums),
        shared_(shared),
        K_(rates.u.size()),
        products_(rates),
        order_(search_order(rates.R)),
        shares_(rates.R),
        totals_(rates.R, 0) {}

  double run(std::size_t begin, std::size_t end, std::vector<Part>* parts) {
    parts_ = parts;
    std::fill(totals_.begin(), totals_.end(), 0);
    log_likelihood_ = 0;
    likelihood_product_ = 1;
    for (std::size_t e = begin; e < end; ++e) allocate(e);
    for (std::size_t r = 0; r < totals_.size(); ++r) add(sums_.totals[r], totals_[r]);
    return log_likelihood_ + std::log(likelihood_product_);
  }

 private:
  void allocate(std::size_t e) {
    const std::uint32_t* cell = entries_.coords + e * K_;
    const float total = products_.compute(cell);
    if (!(total > smallest_float_rate) || !(total < 1e30f)) return allocate_in_logs(e, cell);
    const double z = rates_.scale * static_cast<double>(total);
    if (!(z > smallest_rate)) return allocate_in_logs(e, cell);
    Stream stream(key_, sweep_, e);
    const std::int64_t y = draw_entry(stream, entries_, e, z);
    if (y == 0) {  // a missing cell, as most of them
      log_likelihood_ += z;
      return;
    }
    count_likelihood(z, y);
    if (y == 1) {
      add_count(e, cell, find_component(products_, total, stream.uniform()), 1);
      return;
    }
    for (std::size_t i = 0; i < order_.size(); ++i) shares_[i] = static_cast<double>(products_.product()[order_[i]]);
    draw_multinomial(stream, y, shares_,
                     [&](std::size_t i, std::int64_t part) { add_count(e, cell, order_[i], part); });
  }

  void allocate_in_logs(std::size_t e, const std::uint32_t* cell) {
    const double log_z = log_shares(rates_, cell, order_, shares_);
    if (entries_.missing && log_z < log_smallest_mean) return;  // surely zero
    if (!std::isfinite(log_z))
      throw Error(ErrorKind::numeric, fmt::format("sweep {}: {} number {} has rate zero or infinity", sweep_,
                                                  entries_.missing ? "missing cell" : "one", e + 1));
    const double z = std::exp(log_z);
    Stream stream(key_, sweep_, e);
    const std::int64_t y = draw_entry(stream, entries_, e, z);
    const double count = static_cast<double>(y);
    if (entries_.missing)
      log_likelihood_ += z;
    else if (entries_.observed)
      log_likelihood_ += count * log_z - log_factorial(count);
    else
      log_likelihood_ += z < 1e-300 ? log_z : log_expm1(z);
    draw_multinomial(stream, y, shares_,
                     [&](std::size_t i, std::int64_t part) { add_count(e, cell, order_[i], part); });
  }

  // Adds log(exp(z) - 1) by multiplying, and takes a logarithm only when the product leaves a safe range.
  void count_likelihood(double z, std::int64_t y) {
    if (entries_.missing) {
      log_likelihood_ += z;
      return;
    }
    if (entries_.observed) {
      const double count = static_cast<double>(y);
      log_likelihood_ += count * std::log(z) - log_factorial(count);
      return;
    }
    if (z > 1) {
      log_likelihood_ += log_expm1(z);
      return;
    }
    likelihood_product_ *= z < 1e-4 ? z * (1 + z * (0.5 + z / 6)) : std::expm1(z);
    if (likelihood_product_ < 1e-150) {
      log_likelihood_ += std::log(likelihood_product_);
      likelihood_product_ = 1;
    }
  }

  void add_count(std::size_t e, const std::uint32_t* cell, std::size_t r, std::int64_t count) {
    if (parts_ != nullptr) parts_->push_back({static_cast<std::uint32_t>(e), static_cast<std::uint32_t>(r), count});
    for (std::size_t k = 0; k < K_; ++k) add(sums_.rows[k]->row(cell[k])[r], count);
    totals_[r] += count;
  }

  // Integer sums do not depend on their order, so threads may add to the same place in any order.
  void add(std::int64_t& place, std::int64_t count) const {
    if (shared_)
      std::atomic_ref(place).fetch_add(count, std::memory_order_relaxed);
    else
      place += count;
  }

  const Entries& entries_;
  const Rates& rates_;
  StreamKey key_;
  std::uint32_t sweep_;
  const Sums& sums_;
  bool shared_;
  std::size_t K_;
  Products products_;
  std::vector<std::size_t> order_;
  std::vector<double> shares_;
  std::vector<std::int64_t> totals_;
  double log_likelihood_ = 0;
  double likelihood_product_ = 1;
  std::vector<Part>* parts_ = nullptr;
};

}  // namespace

double allocate(Pool& pool, const Entries& entries, const Rates& rates, StreamKey key, std::uint32_t sweep,
                const Sums& sums) {
  const Blocks blocks{entries.count, entries_per_block};
  std::vector<double> log_likelihood(blocks.count());
  if (sums.parts != nullptr) sums.parts->assign(blocks.count(), {});
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    Allocator allocator(entries, rates, key, sweep, sums, pool.threads() > 1);
    log_likelihood[b] =
        allocator.run(blocks.begin(b), blocks.end(b), sums.parts == nullptr ? nullptr : &(*sums.parts)[b]);
  });
  double sum = 0;
  for (const double part : log_likelihood) sum += part;
  return sum;
}

void score(Pool& pool, const std::uint32_t* coords, std::size_t count, const Rates& rates, double* z) {
  const Blocks blocks{count, entries_per_block};
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    Products products(rates);
    const std::vector<std::size_t> order = search_order(rates.R);
    std::vector<double> shares(rates.R);
    for (std::size_t e = blocks.begin(b); e < blocks.end(b); ++e) {
      const std::uint32_t* cell = coords + e * rates.u.size();
      const float total = products.compute(cell);
      if (total > smallest_float_rate && total < 1e30f)
        z[e] = rates.scale * static_cast<double>(total);
      else
        z[e] = std::exp(log_shares(rates, cell, order, shares));
    }
  });
}

}  // namespace ztp::cpu
