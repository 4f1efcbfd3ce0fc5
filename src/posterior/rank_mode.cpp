// The ranking queries of one mode: batch after batch, and where memory is short, block after block of its entities.
#include <algorithm>
#include <numeric>

#include "kernel/candidates.hpp"
#include "posterior/posterior_impl.hpp"

namespace ztp {
namespace {

// The rows that some queries need: those of the entities that they give, and the candidates of a block.
class QueryRows {
 public:
  // The queries from `first` on: up to `most`, as many as give no more rows than `room` bytes hold, but at least one.
  QueryRows(const DrawsFile& draws, const Queries& queries, std::size_t first, std::size_t most, double room)
      : draws_(draws), layout_(draws.factors().untied()), mode_(queries.mode()), ids_(layout_.modes()) {
    std::vector<RowSet> sets;
    for (std::size_t k = 0; k < layout_.modes(); ++k) sets.emplace_back(layout_.size_of_mode(k).rows);
    double bytes = 0;
    for (; count_ < most && (count_ == 0 || bytes <= room); ++count_)
      for_others(queries.others(first + count_), [&](std::size_t k, std::uint32_t id) {
        const bool is_new = sets[k].add(id);
        if (is_new) bytes += static_cast<double>(Matrix<float>::bytes_of(1, layout_.size_of_mode(k).columns));
      });
    for (std::size_t k = 0; k < layout_.modes(); ++k) {
      sets[k].finish();
      if (k != mode_) ids_[k] = sets[k].ids();
    }
    for (std::size_t q = first; q < first + count_; ++q)
      for_others(queries.others(q), [&](std::size_t k, std::uint32_t id) {
        others_.push_back(layout_.is_one_hot(k) ? id : sets[k].place(id));
      });
    batch_ = queries.batch(first, count_);
    batch_.others = others_.data();
  }

  const QueryBatch& batch() const { return batch_; }
  // From here on these are the candidates.
  State begin_block(Range block, ArrayMaker& arrays) {
    ids_[mode_].resize(block.size());
    std::iota(ids_[mode_].begin(), ids_[mode_].end(), static_cast<std::uint32_t>(block.begin));
    State state;
    state.layout = layout_;
    for (std::size_t k = 0; k < layout_.modes(); ++k) {
      const auto [rows, columns] = layout_.size(k);
      const std::size_t here = layout_.is_one_hot(k) ? rows : ids_[k].size();
      state.factors.push_back(arrays.factors(here, columns, {.all = rows, .matrix = k}));
      if (layout_.is_one_hot(k)) set_identity(*state.factors[k]);
    }
    return state;
  }
  void load(std::size_t i, State& state) const {
    state.tensor.log_weight = draws_.log_weights(i);
    if (!layout_.columns_are_components()) state.layout = draws_.layout(i).untied();
    for (std::size_t k = 0; k < layout_.modes(); ++k)
      if (!layout_.is_one_hot(k))
        draws_.read_rows(i, draws_.factors().matrix(k), ids_[k],
                         [&](Range places, const float* values) { state.factors[k]->write(places, values); });
  }

 private:
  template <class Use>
  void for_others(const std::uint32_t* others, const Use& use) const {
    for (std::size_t k = 0; k < layout_.modes(); ++k)
      if (k != mode_) use(k, *others++);
  }

  const DrawsFile& draws_;
  FactorLayout layout_;  // untied: a block of candidates may be rows of a matrix of which queries give others
  std::size_t mode_, count_ = 0;
  std::vector<std::vector<std::uint32_t>> ids_;  // of each mode
  Buffer<std::uint32_t> others_;
  QueryBatch batch_;
};

// How the memory is divided.
struct RankingRoom {
  std::size_t block;   // candidates
  std::size_t scores;  // bytes
  double given;        // bytes, for rows of the entities that queries give
};
RankingRoom divide(double room, const FactorLayout::Size& mode, bool one_hot, std::size_t for_scores) {
  constexpr std::size_t fewest = 32;
  // A row, its copy among the candidates of a draw, and its scores for the fewest queries that are ranked at once.
  const double bytes = 2 * static_cast<double>(Matrix<float>::bytes_of(1, mode.columns)) + 2 * 4 * 8;
  const double rows = std::min(room / 2 / bytes, static_cast<double>(mode.rows));
  return {one_hot ? mode.rows : std::min(mode.rows, std::max(fewest, static_cast<std::size_t>(rows))),
          std::min(for_scores, static_cast<std::size_t>(room / 4)), room / 4};
}

class ModeRanking {
 public:
  // settings: of all candidates.
  ModeRanking(const DrawsFile& draws, Kernel& kernel, Pool& pool, const Queries& queries,
              const std::vector<std::size_t>& chosen, CandidateSettings settings, double room)
      : draws_(draws),
        kernel_(kernel),
        pool_(pool),
        queries_(queries),
        chosen_(chosen),
        settings_(std::move(settings)),
        layout_(draws.factors().untied()),
        room_(divide(room, layout_.size_of_mode(queries.mode()), layout_.is_one_hot(queries.mode()), settings_.memory)),
        blocks_{layout_.size_of_mode(queries.mode()).rows, room_.block} {
    settings_.memory = room_.scores;
  }

  // How the tests stand of some queries, from `first` on. tell(part): of all queries, those that are done.
  std::vector<std::vector<TiedOnes>> rank(std::size_t first, const std::function<void(double)>& tell) {
    prepare(blocks_.end(0));
    const std::size_t most = std::min(candidates_->most_queries(), queries_.size() - first);
    QueryRows rows(draws_, queries_, first, most, room_.given);
    const auto step = [&](double part) {
      const double count = static_cast<double>(rows.batch().count), all = static_cast<double>(queries_.size());
      tell((static_cast<double>(first) + part * count) / all);
    };
    std::vector<std::vector<TiedOnes>> result;
    if (blocks_.count() == 1) {
      score_blocks(rows, step, [&](Range) { result = candidates_->standings(); });
      return result;
    }
    // The scores of the tests must be known before rivals are counted.
    std::vector<std::vector<float>> of_tests(rows.batch().count);
    score_blocks(
        rows, [&](double part) { step(part / 2); },
        [&](Range block) {
          pool_.for_blocks(of_tests.size(), [&](std::size_t q) { find_tests(first + q, q, block, of_tests[q]); });
        });
    std::vector<Standings> standings(of_tests.begin(), of_tests.end());
    score_blocks(
        rows, [&](double part) { step((1 + part) / 2); },
        [&](Range block) {
          pool_.for_blocks(standings.size(), [&](std::size_t q) {
            std::vector<float> scores = candidates_->scores(q);
            standings[q].add(scores, block.begin, queries_.tests(first + q), queries_.known(first + q));
          });
        });
    for (Standings& of_query : standings) result.push_back(of_query.finish());
    return result;
  }

 private:
  void prepare(std::size_t rows) {
    if (rows == candidates_here_) return;
    std::vector<std::size_t> sizes(layout_.modes(), 0);
    sizes[queries_.mode()] = candidates_here_ = rows;
    candidates_.reset();
    candidates_ = kernel_.candidates(layout_.with_rows(sizes), settings_);
  }
  // use(block), when the candidates of a block have their scores, block after block.
  void score_blocks(QueryRows& rows, const std::function<void(double)>& step, const std::function<void(Range)>& use) {
    const double steps = static_cast<double>(blocks_.count() * chosen_.size());
    for (std::size_t b = 0, done = 0; b < blocks_.count(); ++b) {
      const Range block{blocks_.begin(b), blocks_.end(b)};
      prepare(block.size());
      State state = rows.begin_block(block, kernel_);
      candidates_->begin(rows.batch());
      for (const std::size_t i : chosen_) {
        rows.load(i, state);
        candidates_->add(state);
        step(static_cast<double>(++done) / steps);
      }
      use(block);
    }
  }
  // The scores of the tests of a query, the q-th of the batch, that are in this block.
  void find_tests(std::size_t query, std::size_t q, Range block, std::vector<float>& found) {
    const std::span<const std::uint32_t> tests = queries_.tests(query);
    const auto begin = std::lower_bound(tests.begin(), tests.end(), block.begin),
               end = std::lower_bound(begin, tests.end(), block.end);
    if (begin == end) return;
    const std::vector<float> scores = candidates_->scores(q);
    for (auto j = begin; j != end; ++j) found.push_back(scores[*j - block.begin]);
  }

  const DrawsFile& draws_;
  Kernel& kernel_;
  Pool& pool_;
  const Queries& queries_;
  const std::vector<std::size_t>& chosen_;
  CandidateSettings settings_;
  const FactorLayout layout_;
  const RankingRoom room_;
  const Blocks blocks_;  // of candidates
  std::unique_ptr<CandidateRanking> candidates_;
  std::size_t candidates_here_ = 0;  // how many it is for
};

}  // namespace

RankingSums Posterior::Impl::rank_on_device(const Queries& queries, const std::vector<std::size_t>& chosen,
                                            const CandidateSettings& settings, const RankingMeter& meter,
                                            const std::function<void(double)>& step) {
  const std::unique_ptr<CandidateRanking> candidates = kernel->candidates(layout, settings);
  const double size = static_cast<double>(queries.size());
  RankingSums total;
  for (std::size_t first = 0; first < queries.size(); first += candidates->most_queries()) {
    const std::size_t count = std::min(candidates->most_queries(), queries.size() - first);
    candidates->begin(queries.batch(first, count));
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const State* kept = kept_draw(chosen[i]);
      if (kept == nullptr) draws.load(chosen[i], whole_draw());
      candidates->add(kept == nullptr ? whole_draw() : *kept);
      const double done = static_cast<double>(i + 1) / static_cast<double>(chosen.size());
      step((static_cast<double>(first) + done * static_cast<double>(count)) / size);
    }
    for (const std::vector<TiedOnes>& of_query : candidates->standings()) total.add(meter.query(of_query));
  }
  return total;
}

RankingSums Posterior::Impl::rank_mode(const Queries& queries, const std::vector<std::size_t>& chosen,
                                       const RankingOptions& ranking_options, const std::function<void(double)>& step) {
  const RankingMeter meter(ranking_options.at);
  const ChainDraws chains = ChainDraws::of(
      chosen.size(), [&](std::size_t i) { return draws.draws()[chosen[i]].chain; }, chain_draws.logits);
  const CandidateSettings settings{queries.mode(), queries.size(), ranking_options.memory, chains};
  if (kernel->computes_elsewhere()) return rank_on_device(queries, chosen, settings, meter, step);
  ModeRanking ranking(draws, *kernel, pool, queries, chosen, settings, room());
  RankingSums total;
  for (std::size_t first = 0, count; first < queries.size(); first += count) {
    const std::vector<std::vector<TiedOnes>> standings = ranking.rank(first, step);
    count = standings.size();
    for (const std::vector<TiedOnes>& of_query : standings) total.add(meter.query(of_query));
  }
  return total;
}

}  // namespace ztp
