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

// Calls use(coords, count) for the ones of a file, block by block.
void Posterior::Impl::for_listed_ones(const std::string& file,
                                      const std::function<void(const std::uint32_t*, std::size_t)>& use) {
  TableSpec spec = test_table(file, modes, has_counts(info.options));
  spec.optional_value = true;
  const std::size_t order = modes.size();
  Buffer<std::uint32_t> ones;
  read_file(spec, [&](const CellBlock& block) {
    ones.resize(0);
    for (std::size_t e = 0; e < block.cells(order); ++e)
      if (block.values[e] != 0) ones.append(block.coords.data() + e * order, order);
    use(ones.data(), ones.size() / order);
  });
}

Ranking Posterior::Impl::rank(const Buffer<std::uint32_t>& ones, const std::string& source,
                              const RankingOptions& ranking_options) {
  if (ones.empty()) throw Error(ErrorKind::input, fmt::format("{}: there are no ones to rank", source));
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
  const Dataset data = mapped_data();
  for_ones(data, [&](const std::uint32_t* cells, const std::int64_t*, std::size_t count) { add_known(cells, count); });
  for (const std::string& file : ranking_options.filter) for_listed_ones(file, add_known);
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
  impl_->for_listed_ones(path,
                         [&](const std::uint32_t* cells, std::size_t count) { ones.append(cells, count * order); });
  impl_->require_cells(path, ones.size());
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
