#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "evaluate/ranking.hpp"
#include "io/dataset_ones.hpp"
#include "io/read.hpp"
#include "posterior/candidate_scores.hpp"
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
void for_listed_ones(const std::string& file, const std::vector<Mode>& modes, Pool& pool,
                     const std::function<void(const std::uint32_t*, std::size_t)>& use) {
  TableSpec spec = test_table(file, modes);
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

}  // namespace

RankingSums Posterior::Impl::rank_mode(const Queries& queries, const std::vector<std::size_t>& chosen,
                                       const RankingOptions& options, const std::function<void(double)>& step) {
  const std::size_t n = layout.size_of_mode(queries.mode()).rows, P = layout.size_of_mode(queries.mode()).columns;
  const RankingPlan plan = plan_ranking(n, P, queries.size(), chosen.size(), options.memory);
  const RankingMeter meter(options.at);
  CandidateScores scores(n, P, plan, pool);
  RankingSums total;
  for (std::size_t first = 0; first < queries.size(); first += plan.queries) {
    const std::size_t count = std::min(plan.queries, queries.size() - first);
    scores.begin(queries, first, count);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      draws.load(chosen[i], state);
      scores.add(state);
      const double done = static_cast<double>(i + 1) / static_cast<double>(chosen.size());
      step((static_cast<double>(first) + done * static_cast<double>(count)) / static_cast<double>(queries.size()));
    }
    scores.finish();
    std::vector<RankingSums> sums(count);
    const Blocks blocks{count, 16};
    pool.for_blocks(blocks.count(), [&](std::size_t block) {
      for (std::size_t b = blocks.begin(block); b < blocks.end(block); ++b)
        sums[b] = meter.query(tied_ones({scores.of(b), n}, queries.tests(first + b), queries.known(first + b)));
    });
    for (const RankingSums& of_query : sums) total.add(of_query);  // in order, whatever the threads
  }
  return total;
}

Ranking Posterior::Impl::rank(const Buffer<std::uint32_t>& ones, const std::string& source,
                              const RankingOptions& options) {
  if (ones.empty()) throw Error(ErrorKind::input, fmt::format("{}: no ones, so there is nothing to rank", source));
  const std::size_t order = modes.size();
  Ranking result;
  result.at = options.at;
  result.modes = options.modes;
  if (result.modes.empty()) {
    result.modes.resize(order);
    std::iota(result.modes.begin(), result.modes.end(), std::size_t{0});
  }
  std::vector<Queries> queries;
  for (const std::size_t k : result.modes) queries.emplace_back(ones, order, k);
  const auto add_known = [&](const std::uint32_t* cells, std::size_t count) {
    for (Queries& of_mode : queries) of_mode.add_known(cells, count);
  };
  for_ones(load_data(run_dir, info),
           [&](const std::uint32_t* cells, const std::int64_t*, std::size_t count) { add_known(cells, count); });
  for (const std::string& file : options.filter) for_listed_ones(file, modes, pool, add_known);
  for (Queries& of_mode : queries) of_mode.finish_known();
  const std::size_t D = draws.draws().size();
  const std::vector<std::size_t> chosen = evenly_spaced(D, options.draws == 0 ? D : options.draws);
  result.draws = chosen.size();

  double all = 0, before = 0;
  const auto work = [&](const Queries& q) {
    return static_cast<double>(q.size()) * static_cast<double>(modes[q.mode()].labels.size());
  };
  for (const Queries& of_mode : queries) all += work(of_mode);
  RankingSums total;
  for (const Queries& of_mode : queries) {
    const RankingSums sums = rank_mode(of_mode, chosen, options, [&](double part) {
      if (options.progress) options.progress((before + part * work(of_mode)) / all);
    });
    before += work(of_mode);
    result.by_mode.push_back(sums.means());
    total.add(sums);
  }
  result.all = total.means();
  result.test_ones = result.by_mode[0].ranks;
  return result;
}

Ranking Posterior::rank(const std::string& file, const RankingOptions& options) {
  impl_->require_rates("a ranking");
  const std::size_t order = impl_->modes.size();
  check_options(options, order);
  const std::string path = file.empty() ? stored_test_file(impl_->run_dir, impl_->info) : file;
  Buffer<std::uint32_t> ones;
  for_listed_ones(path, impl_->modes, impl_->pool,
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
