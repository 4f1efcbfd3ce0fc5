#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "evaluate/ranking.hpp"
#include "io/dataset_ones.hpp"
#include "io/read.hpp"
#include "posterior/popularity.hpp"
#include "posterior/posterior_impl.hpp"
#include "store/data.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

void check_options(const RankingOptions& options, std::size_t order) {
  if (options.at.empty()) throw Error(ErrorKind::usage, "ranking: no k is given");
  for (const std::uint32_t k : options.at)
    if (k < 1 || k > most_places)
      throw Error(ErrorKind::usage, fmt::format("ranking: k = {} is not between 1 and {}", k, most_places));
  for (std::size_t i = 0; i < options.modes.size(); ++i) {
    const std::size_t k = options.modes[i];
    if (k >= order) throw Error(ErrorKind::usage, fmt::format("ranking: there is no mode {} (from 0)", k));
    if (std::count(options.modes.begin(), options.modes.end(), k) > 1)
      throw Error(ErrorKind::usage, fmt::format("ranking: mode {} (from 0) is given twice", k));
  }
}

// Calls use(coords, count) for the ones of a file, block by block.
void for_listed_ones(const std::string& file, const std::vector<Mode>& modes, bool counts, Pool& pool,
                     const std::function<void(const std::uint32_t*, std::size_t)>& use) {
  TableSpec spec = test_table(file, modes, counts);
  spec.optional_value = true;
  TableReader reader(spec, pool);
  const std::size_t order = modes.size();
  CellBlock block;
  Buffer<std::uint32_t> ones;
  while (reader.next(block)) {
    ones.resize(0);
    for (std::size_t e = 0; e < block.cells(order); ++e)
      if (block.values[e] != 0) ones.append(block.coords.data() + e * order, order);
    use(ones.data(), ones.size() / order);
  }
}

// The same queries, ranked by popularity.
RankingSums rank_by_popularity(const Queries& queries, const PopularCandidates& candidates, std::size_t entities,
                               const RankingMeter& meter, Pool& pool) {
  const Blocks blocks{queries.size(), 16};
  std::vector<RankingSums> sums(blocks.count());
  pool.for_blocks(blocks.count(), [&](std::size_t block) {
    std::vector<float> score(entities);
    for (std::size_t q = blocks.begin(block); q < blocks.end(block); ++q) {
      candidates.score(q, score);
      sums[block].add(meter.query(tied_ones(score, queries.tests(q), queries.known(q))));
    }
  });
  RankingSums total;
  for (const RankingSums& of_block : sums) total.add(of_block);
  return total;
}

}  // namespace

RankingSums Posterior::Impl::rank_mode(const Queries& queries, const std::vector<std::size_t>& chosen,
                                       const RankingOptions& ranking_options, const std::function<void(double)>& step) {
  const ChainDraws chains = ChainDraws::of(
      chosen.size(), [&](std::size_t i) { return draws.draws()[chosen[i]].chain; }, chain_draws.logits);
  const std::unique_ptr<CandidateRanking> candidates =
      kernel->candidates(layout, {queries.mode(), queries.size(), ranking_options.memory, chains});
  const RankingMeter meter(ranking_options.at);
  const double size = static_cast<double>(queries.size());
  RankingSums total;
  for (std::size_t first = 0; first < queries.size(); first += candidates->most_queries()) {
    const std::size_t count = std::min(candidates->most_queries(), queries.size() - first);
    candidates->begin(queries.batch(first, count));
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      candidates->add(draw(chosen[i]));
      const double done = static_cast<double>(i + 1) / static_cast<double>(chosen.size());
      step((static_cast<double>(first) + done * static_cast<double>(count)) / size);
    }
    for (const std::vector<TiedOnes>& of_query : candidates->standings()) total.add(meter.query(of_query));
  }
  return total;
}

Ranking Posterior::Impl::rank(const Buffer<std::uint32_t>& ones, const std::string& source,
                              const RankingOptions& ranking_options) {
  if (ones.empty()) throw Error(ErrorKind::input, fmt::format("{}: no ones, so there is nothing to rank", source));
  const std::size_t order = modes.size();
  Ranking result;
  result.at = ranking_options.at;
  result.modes = ranking_options.modes;
  if (result.modes.empty()) {
    result.modes.resize(order);
    std::iota(result.modes.begin(), result.modes.end(), std::size_t{0});
  }
  std::vector<Queries> queries;
  for (const std::size_t k : result.modes) queries.emplace_back(ones, order, k);
  const auto add_known = [&](const std::uint32_t* cells, std::size_t count) {
    for (Queries& of_mode : queries) of_mode.add_known(cells, count);
  };
  const Dataset data = load_data(run_dir, info);
  for_ones(data, [&](const std::uint32_t* cells, const std::int64_t*, std::size_t count) { add_known(cells, count); });
  for (const std::string& file : ranking_options.filter)
    for_listed_ones(file, modes, has_counts(info.options), pool, add_known);
  for (Queries& of_mode : queries) of_mode.finish_known();
  const std::size_t D = draws.draws().size();
  const std::vector<std::size_t> chosen = evenly_spaced(D, ranking_options.draws == 0 ? D : ranking_options.draws);
  result.draws = chosen.size();

  double all = 0, before = 0;
  const auto work = [&](const Queries& q) {
    return static_cast<double>(q.size()) * static_cast<double>(modes[q.mode()].labels.size());
  };
  double products = 0;
  for (const Queries& of_mode : queries) {
    all += work(of_mode);
    products += work(of_mode) * static_cast<double>(layout.size_of_mode(of_mode.mode()).columns * chosen.size());
  }
  constexpr double products_a_second = 3e10;  // of matrices
  prepare_for_seconds(products / products_a_second);
  const Popularity popularity(data);
  const RankingMeter meter(ranking_options.at);
  RankingSums total, total_of_popularity;
  for (const Queries& of_mode : queries) {
    const RankingSums sums = rank_mode(of_mode, chosen, ranking_options, [&](double part) {
      if (ranking_options.progress) ranking_options.progress((before + part * work(of_mode)) / all);
    });
    before += work(of_mode);
    result.by_mode.push_back(sums.means());
    total.add(sums);
    const RankingSums popular = rank_by_popularity(of_mode, PopularCandidates(data, popularity, of_mode),
                                                   modes[of_mode.mode()].labels.size(), meter, pool);
    result.popularity_by_mode.push_back(popular.means());
    total_of_popularity.add(popular);
  }
  result.all = total.means();
  result.popularity = total_of_popularity.means();
  result.test_ones = result.by_mode[0].ranks;
  return result;
}

Ranking Posterior::rank(const std::string& file, const RankingOptions& options) {
  impl_->require_rates("a ranking");
  const std::size_t order = impl_->modes.size();
  check_options(options, order);
  const std::string path = file.empty() ? stored_test_file(impl_->run_dir, impl_->info) : file;
  Buffer<std::uint32_t> ones;
  for_listed_ones(path, impl_->modes, has_counts(impl_->info.options), impl_->pool,
                  [&](const std::uint32_t* cells, std::size_t count) { ones.append(cells, count * order); });
  return impl_->rank(ones, path, options);
}

Ranking Posterior::rank(const TestCells& cells, const RankingOptions& options) {
  impl_->require_rates("a ranking");
  const std::size_t order = impl_->modes.size();
  check_options(options, order);
  impl_->check_cells(cells);
  Buffer<std::uint32_t> ones;
  for (std::size_t e = 0; e < cells.size(); ++e)
    if (cells.outcome[e] != 0) ones.append(cells.coords.data() + e * order, order);
  return impl_->rank(ones, "ranking", options);
}

}  // namespace ztp
