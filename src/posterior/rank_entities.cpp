// The entities of a mode by the probability that at least one of their cells is a one.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/memory.hpp"
#include "posterior/entity_rates.hpp"
#include "posterior/posterior_impl.hpp"
#include "posterior/rate_parts.hpp"

namespace ztp {
namespace {

constexpr double most_for_rates = 256 << 20;
constexpr std::size_t skipped_at_a_time = std::size_t{1} << 18;
constexpr double most_for_parts = 64 << 20;

bool better(const EntityRecommendation& a, const EntityRecommendation& b) {
  const Prediction &p = a.prediction, &q = b.prediction;
  if (p.probability != q.probability) return p.probability > q.probability;
  return p.rate != q.rate ? p.rate > q.rate : a.entity < b.entity;  // many may be certain
}

void keep_best(std::vector<EntityRecommendation>& items, std::size_t top) {
  std::sort(items.begin(), items.end(), better);
  items.resize(std::min(items.size(), top));
}

}  // namespace

class Posterior::Impl::EntityRanking {
 public:
  EntityRanking(Impl& impl, std::size_t mode, const CellFilter& filter)
      : impl_(impl),
        mode_(mode),
        filter_(filter),
        rates_(impl.draws, mode, filter, impl.pool),
        D_(impl.draws.draws().size()),
        chains_(ChainDraws::of(
            D_, [&](std::size_t d) { return impl.draws.draws()[d].chain; }, false)),
        ones_(impl.modes[mode].labels.size(), 0),
        skipped_(ones_.size(), 0) {
    filter.for_ones([&](const std::uint32_t* cell) { ++ones_[cell[mode_]]; });
    filter.for_skipped([&](const std::uint32_t* cell) { ++skipped_[cell[mode_]]; });
  }

  std::vector<EntityRecommendation> run(std::size_t top) {
    std::vector<std::uint32_t> ids;
    for (std::uint32_t id = 0; id < ones_.size(); ++id)
      if (!is_excluded(filter_.excluded(), mode_, id) && cells(id) > 0) ids.push_back(id);
    const double of_entity = static_cast<double>(D_ * (sizeof(double) + sizeof(float)));
    const Blocks blocks{
        ids.size(),
        std::max<std::size_t>(1, static_cast<std::size_t>(std::min(most_for_rates, impl_.room() / 4) / of_entity))};
    std::vector<EntityRecommendation> best;
    for (std::size_t b = 0; b < blocks.count(); ++b) {
      const std::span<const std::uint32_t> block(ids.data() + blocks.begin(b), blocks.end(b) - blocks.begin(b));
      std::vector<EntityRecommendation> found = predict(block);
      best.insert(best.end(), found.begin(), found.end());
      keep_best(best, top);
    }
    explain(best);
    return best;
  }

 private:
  double cells(std::uint32_t id) const { return rates_.cells(id) - static_cast<double>(skipped_[id]); }

  // Calls use(cells, count) for the cells that are skipped and have one of these entities.
  template <class Use>
  void for_skipped(std::span<const std::uint32_t> ids, std::size_t at_a_time, const Use& use) const {
    const std::size_t K = filter_.given().size();
    Buffer<std::uint32_t> cells;
    const auto flush = [&] {
      if (!cells.empty()) use(cells.data(), cells.size() / K);
      cells.resize(0);
    };
    filter_.for_skipped([&](const std::uint32_t* cell) {
      if (!std::binary_search(ids.begin(), ids.end(), cell[mode_])) return;
      cells.append(cell, K);
      if (cells.size() == at_a_time * K) flush();
    });
    flush();
  }

  // The rates of some entities: D of each draw after another. What is skipped is taken off.
  std::vector<double> rates(std::span<const std::uint32_t> ids) {
    std::vector<double> z(D_ * ids.size());
    for (std::size_t d = 0; d < D_; ++d) rates_.rates(d, ids, z.data() + d * ids.size());
    std::vector<double> of_cells;
    for_skipped(ids, skipped_at_a_time, [&](const std::uint32_t* cells, std::size_t count) {
      impl_.for_scorers(cells, count, [&](Scorer& scorer, std::size_t first) {
        of_cells.resize(scorer.cells());
        for (std::size_t d = 0; d < D_; ++d) {
          scorer.score(d, of_cells.data());
          for (std::size_t e = 0; e < of_cells.size(); ++e)
            z[d * ids.size() + place(ids, cells + (first + e) * filter_.given().size())] -= of_cells[e];
        }
      });
    });
    for (double& rate : z) rate = std::max(rate, 0.0);  // sums of rounded floats
    return z;
  }
  std::size_t place(std::span<const std::uint32_t> ids, const std::uint32_t* cell) const {
    return static_cast<std::size_t>(std::lower_bound(ids.begin(), ids.end(), cell[mode_]) - ids.begin());
  }

  std::vector<EntityRecommendation> predict(std::span<const std::uint32_t> ids) {
    const std::vector<double> z = rates(ids);
    std::vector<EntityRecommendation> result(ids.size());
    const Blocks blocks{ids.size(), 64};
    impl_.pool.for_blocks(blocks.count(), [&](std::size_t b) {
      std::vector<float> of_draws(D_);
      for (std::size_t c = blocks.begin(b); c < blocks.end(b); ++c) {
        double sum = 0;
        const auto probability = [&](std::size_t d) { return -std::expm1(-z[d * ids.size() + c]); };
        for (std::size_t d = 0; d < D_; ++d) {
          of_draws[d] = static_cast<float>(probability(d));
          sum += z[d * ids.size() + c];
        }
        const std::uint32_t id = ids[c];
        result[c] = {id,
                     summarise(chains_.combine(probability), of_draws.data(), D_, sum),
                     ones_[id],
                     cells(id),
                     filter_.is_missing_entity(mode_, id),
                     {}};
      }
    });
    return result;
  }

  // The parts of the first chain.
  void explain(std::vector<EntityRecommendation>& best) {
    const std::size_t R = impl_.layout.components();
    const std::vector<std::size_t> draws = impl_.draws_of(impl_.draws.draws().front().chain);
    const Blocks blocks{best.size(), std::max<std::size_t>(1, static_cast<std::size_t>(most_for_parts / 8) / R)};
    for (std::size_t b = 0; b < blocks.count(); ++b) {
      std::vector<std::uint32_t> ids;
      for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i) ids.push_back(best[i].entity);
      std::sort(ids.begin(), ids.end());
      std::vector<RateParts> parts(ids.size());
      std::vector<double> of_draw(ids.size() * R);
      for (const std::size_t d : draws) {
        rates_.parts(d, ids, of_draw.data());
        for (std::size_t c = 0; c < ids.size(); ++c) parts[c].add_all(rates_.layout(d), of_draw.data() + c * R, 1);
      }
      take_off(ids, draws, of_draw, parts);
      for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i)
        best[i].parts = parts[place(ids, best[i].entity)].largest();
    }
  }
  std::size_t place(std::span<const std::uint32_t> ids, std::uint32_t id) const {
    return static_cast<std::size_t>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin());
  }
  // The parts of what is skipped. of_draw: room for some of them.
  void take_off(std::span<const std::uint32_t> ids, const std::vector<std::size_t>& draws, std::vector<double>& of_draw,
                std::vector<RateParts>& parts) {
    const std::size_t K = filter_.given().size(), R = impl_.layout.components();
    for_skipped(ids, std::max<std::size_t>(1, of_draw.size() / R), [&](const std::uint32_t* cells, std::size_t count) {
      for (std::size_t first = 0, here; first < count; first += here) {
        const DrawRows rows(impl_.draws, cells + first * K, count - first, impl_.room());
        here = rows.cells();
        State state = rows.make_state(*impl_.kernel);
        for (const std::size_t d : draws) {
          rows.load(d, state);
          impl_.kernel->score_parts(rows.coords(), here, tensor_rates(state), of_draw.data());
          for (std::size_t e = 0; e < here; ++e)
            parts[place(ids, cells + (first + e) * K)].add_all(state.layout, of_draw.data() + e * R, -1);
        }
      }
    });
  }

  Impl& impl_;
  const std::size_t mode_;
  const CellFilter& filter_;
  const EntityRates rates_;
  const std::size_t D_;
  const ChainDraws chains_;
  std::vector<std::uint64_t> ones_, skipped_;  // of each entity: training ones, and cells that do not count
};

std::vector<EntityRecommendation> Posterior::Impl::rank_entities(std::size_t mode, std::size_t top,
                                                                 const CellFilter& filter) {
  return EntityRanking(*this, mode, filter).run(top);
}

}  // namespace ztp
