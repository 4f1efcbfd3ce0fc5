#include "report/data_statistics.hpp"

#include <xxhash.h>

#include <algorithm>
#include <numeric>

#include "report/entity_order.hpp"

namespace ztp {
namespace {

constexpr double most_sampled = 100'000;  // ones of the data in a sample of contexts
constexpr std::uint64_t seed_of_contexts = 0x7a74702d63747874ull;
constexpr std::uint32_t left_out = 0xffff;
constexpr unsigned number_bits = 16;
static_assert(most_in_a_line < left_out && most_paired < left_out);

// Entities of a mode, numbered, and the contexts in which they have ones: all contexts, or a share of them.
class ContextSample {
 public:
  // number_of: of each entity of the mode; left_out: it is not in the sample.
  ContextSample(std::size_t mode, std::vector<std::uint32_t> number_of, double share)
      : mode_(mode), number_of_(std::move(number_of)), share_(share) {}

  // The context of a cell is told by 48 bits of a hash. Two of 100,000 contexts have the same with probability 2e-5,
  // more if the share is small, and would then be taken for one.
  void add(const std::uint32_t* cell, std::size_t K, std::vector<std::uint32_t>& scratch) {
    const std::uint32_t number = number_of_[cell[mode_]];
    if (number == left_out) return;
    scratch.assign(cell, cell + K);
    scratch[mode_] = 0;
    const std::uint64_t hash = XXH3_64bits_withSeed(scratch.data(), K * sizeof(std::uint32_t), seed_of_contexts);
    if (static_cast<double>(hash) * 0x1p-64 < share_) keys_.push_back(hash >> number_bits << number_bits | number);
  }

  // use(numbers) for each context with a one: the numbers of the entities that have one there, ascending. Each once,
  // however often its cell was added.
  template <class Use>
  void for_contexts(const Use& use) {
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
    std::vector<std::uint32_t> numbers;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      numbers.push_back(static_cast<std::uint32_t>(keys_[i] & left_out));
      if (i + 1 < keys_.size() && keys_[i + 1] >> number_bits == keys_[i] >> number_bits) continue;
      use(numbers);
      numbers.clear();
    }
    keys_ = {};
  }

 private:
  std::size_t mode_;
  std::vector<std::uint32_t> number_of_;
  double share_;
  std::vector<std::uint64_t> keys_;  // hash of the context, number of the entity
};

Histogram histogram_of(std::vector<std::uint64_t> values) {
  Histogram result;
  std::sort(values.begin(), values.end());
  for (const std::uint64_t value : values) {
    if (result.empty() || result.back().first != value) result.emplace_back(value, 0);
    ++result.back().second;
  }
  return result;
}

std::vector<std::vector<std::uint64_t>> degrees_of(const CellSource& cells, const std::vector<std::uint32_t>& sizes) {
  const std::size_t K = sizes.size();
  std::vector<std::vector<std::uint64_t>> degrees;
  for (const std::uint32_t size : sizes) degrees.emplace_back(size, 0);
  cells([&](const std::uint32_t* coords, const std::int64_t* counts, std::size_t ones) {
    for (std::size_t e = 0; e < ones; ++e)
      for (std::size_t k = 0; k < K; ++k)
        degrees[k][coords[e * K + k]] += counts == nullptr ? 1 : static_cast<std::uint64_t>(counts[e]);
  });
  return degrees;
}

// The entities with the highest degrees get the numbers 0, 1, ...; of equal ones the first.
std::vector<std::uint32_t> number_by_degree(const std::vector<std::uint64_t>& degrees) {
  std::vector<std::uint32_t> ids(degrees.size()), number_of(degrees.size(), left_out);
  std::iota(ids.begin(), ids.end(), 0u);
  const std::size_t numbered = std::min(ids.size(), most_paired);
  std::partial_sort(
      ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(numbered), ids.end(),
      [&](std::uint32_t a, std::uint32_t b) { return degrees[a] != degrees[b] ? degrees[a] > degrees[b] : a < b; });
  for (std::size_t i = 0; i < numbered; ++i) number_of[ids[i]] = static_cast<std::uint32_t>(i);
  return number_of;
}

Histogram count_pairs(ContextSample& sample, std::size_t entities) {
  std::vector<std::uint32_t> shared(entities * entities, 0);  // above the diagonal
  sample.for_contexts([&](const std::vector<std::uint32_t>& numbers) {
    for (std::size_t a = 0; a < numbers.size(); ++a)
      for (std::size_t b = a + 1; b < numbers.size(); ++b) ++shared[numbers[a] * entities + numbers[b]];
  });
  std::vector<std::uint64_t> of_pairs;
  for (std::size_t a = 0; a < entities; ++a)
    for (std::size_t b = a + 1; b < entities; ++b) of_pairs.push_back(shared[a * entities + b]);
  return histogram_of(std::move(of_pairs));
}

Changes count_changes(ContextSample& sample, std::size_t entities) {
  const std::vector<std::uint64_t> none(entities - 1, 0);
  Changes changes{none, none, none};
  sample.for_contexts([&](const std::vector<std::uint32_t>& places) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::uint32_t t = places[i];
      const bool after = i + 1 < places.size() && places[i + 1] == t + 1, before = i > 0 && places[i - 1] + 1 == t;
      if (after)
        ++changes.stay[t];
      else if (t + 1 < entities)
        ++changes.disappear[t];
      if (!before && t > 0) ++changes.appear[t - 1];
    }
  });
  return changes;
}

}  // namespace

double share_of_contexts(std::uint64_t ones) {
  return std::min(1.0, most_sampled / std::max(1.0, static_cast<double>(ones)));
}

DataStatistics statistics_of(const CellSource& cells, const StatisticsPlan& plan, Pool& pool) {
  const std::size_t K = plan.sizes.size();
  std::vector<std::vector<std::uint64_t>> degrees = degrees_of(cells, plan.sizes);
  std::vector<ContextSample> samples;
  for (std::size_t k = 0; k < K; ++k) samples.emplace_back(k, number_by_degree(degrees[k]), plan.pair_share[k]);
  for (const StatisticsPlan::OrderedMode& mode : plan.ordered) samples.emplace_back(mode.mode, mode.place, mode.share);
  std::vector<std::uint32_t> scratch;
  cells([&](const std::uint32_t* coords, const std::int64_t*, std::size_t ones) {
    for (std::size_t e = 0; e < ones; ++e)
      for (ContextSample& sample : samples) sample.add(coords + e * K, K, scratch);
  });
  DataStatistics result{std::vector<Histogram>(K), std::vector<Histogram>(K),
                        std::vector<Changes>(plan.ordered.size())};
  pool.for_blocks(samples.size(), [&](std::size_t i) {
    if (i < K) {
      result.degrees[i] = histogram_of(std::move(degrees[i]));
      result.pairs[i] = count_pairs(samples[i], std::min<std::size_t>(plan.sizes[i], most_paired));
    } else {
      result.changes[i - K] = count_changes(samples[i], plan.sizes[plan.ordered[i - K].mode]);
    }
  });
  return result;
}

}  // namespace ztp
