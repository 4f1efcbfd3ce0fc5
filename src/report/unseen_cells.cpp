#include "report/unseen_cells.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "io/dataset_ones.hpp"
#include "io/read.hpp"
#include "model/self_cells.hpp"
#include "report/mean_factor.hpp"
#include "report/promising_cells.hpp"
#include "store/data.hpp"
#include "tensor/records.hpp"

namespace ztp {
namespace {

constexpr std::size_t most_of_mode = 2000, most_of_all = 8000;  // entities with ones
constexpr double candidates = 4 * unseen_of_entity;             // of each, in the mean
constexpr std::size_t enough = 2 * unseen_of_entity;            // fewer, and more are looked for
constexpr int most_rounds = 4;

struct AskedEntity {
  std::size_t mode;
  std::uint32_t id;
};

std::vector<AskedEntity> choose_entities(const ShownEntities& shown) {
  std::vector<std::vector<std::uint32_t>> with_ones;
  std::vector<std::size_t> sizes;
  for (const ShownEntities::ModeEntities& mode : shown.modes) {
    std::vector<std::uint32_t>& ids = with_ones.emplace_back();
    for (const std::uint32_t id : mode.ids)
      if (mode.has_ones(id)) ids.push_back(id);
    std::stable_sort(ids.begin(), ids.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return mode.ones[a] > mode.ones[b]; });
    sizes.push_back(std::min(ids.size(), most_of_mode));
  }
  const std::vector<std::size_t> shares = fair_shares(sizes, most_of_all);
  std::vector<AskedEntity> asked;
  for (std::size_t k = 0; k < shown.modes.size(); ++k) {
    for (std::size_t i = 0; i < shares[k]; ++i) asked.push_back({k, with_ones[k][i]});
    for (const std::uint32_t id : cold_starts(shown.modes[k], cold_starts_shown))
      if (shown.modes[k].place_of(id)) asked.push_back({k, id});
  }
  return asked;
}

// Candidates for the most probable cells of these entities, without training ones and cells that cannot be; sorted and
// distinct. Many probable cells are training ones: if too few others are left, more candidates are taken.
Buffer<std::uint32_t> find_candidates(const Dataset& data, const PromisingCells& promising,
                                      const MissingSelfCells& cannot_be, std::vector<AskedEntity> asked, Pool& pool) {
  const std::size_t K = data.tensor.order();
  Buffer<std::uint32_t> result;
  double zeros = candidates;
  for (int round = 0; round < most_rounds && !asked.empty(); ++round, zeros *= 4) {
    std::vector<PromisingCells::Found> found(asked.size());
    const Blocks blocks{asked.size(), 64};
    pool.for_blocks(blocks.count(), [&](std::size_t b) {
      PromisingCells::Scratch scratch;
      for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i)
        found[i] = promising.of(asked[i].mode, asked[i].id, zeros, scratch);
    });
    Buffer<std::uint32_t> cells;
    for (const PromisingCells::Found& of_entity : found) cells.append(of_entity.cells.data(), of_entity.cells.size());
    sort_and_merge_records(cells, K);
    std::vector<std::uint8_t> known = which_are_ones(data, cells, pool);
    for (std::size_t e = 0; e < known.size(); ++e)
      if (cannot_be.contains(cells.data() + e * K)) known[e] = 1;
    for (std::size_t e = 0; e < known.size(); ++e)
      if (known[e] == 0) result.append(cells.data() + e * K, K);
    std::vector<AskedEntity> open;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      std::size_t unseen = 0;
      for (std::size_t e = 0; e < found[i].cells.size() / K && unseen < enough; ++e)
        if (known[find_record(std::as_const(cells), K, found[i].cells.data() + e * K)] == 0) ++unseen;
      if (unseen < enough && !found[i].all) open.push_back(asked[i]);
    }
    asked = std::move(open);
  }
  sort_and_merge_records(result, K);
  return result;
}

// The outcomes of these cells, which are distinct, if they are test cells of the run.
std::vector<std::optional<bool>> outcomes(const std::string& run_dir, const Posterior& posterior,
                                          const Buffer<std::uint32_t>& cells, Pool& pool) {
  const std::size_t K = posterior.modes().size(), count = cells.size() / K;
  std::vector<std::optional<bool>> result(count);
  const RunInfo& info = posterior.info();
  if (info.test_ones + info.test_zeros == 0) return result;
  Buffer<std::uint32_t> sorted;
  sorted.append(cells.data(), cells.size());
  std::vector<std::int64_t> places(count);
  std::iota(places.begin(), places.end(), 0);
  sort_records(sorted.data(), count, K, places.data());
  TableReader reader(test_table(stored_test_file(run_dir, info), posterior.modes(), has_counts(info.options)), pool);
  CellBlock block;
  while (reader.next(block))
    for (std::size_t e = 0; e < block.cells(K); ++e) {
      const std::size_t found = find_record(std::as_const(sorted), K, block.coords.data() + e * K);
      if (found < count) result[static_cast<std::size_t>(places[found])] = block.values[e] != 0;
    }
  return result;
}

}  // namespace

UnseenCells find_unseen(const std::string& run_dir, const Dataset& data, Posterior& posterior,
                        const ShownEntities& shown, Pool& pool) {
  const std::size_t K = shown.modes.size();
  const std::vector<AskedEntity> asked = choose_entities(shown);
  const MissingSelfCells self(layout_of(posterior), posterior.info().options.self_cells == SelfCells::missing);
  const Buffer<std::uint32_t> cells = find_candidates(data, PromisingCells(run_dir, posterior), self, asked, pool);
  const std::vector<Prediction> predictions = posterior.predict(cells.data(), cells.size() / K);
  // A cell that was found for one entity may be among the first of another.
  std::vector<std::vector<std::vector<std::size_t>>> of_entity(K);
  for (std::size_t k = 0; k < K; ++k) of_entity[k].resize(shown.modes[k].ones.size());
  for (std::size_t e = 0; e < predictions.size(); ++e)
    for (std::size_t k = 0; k < K; ++k) of_entity[k][cells[e * K + k]].push_back(e);
  UnseenCells result;
  result.modes.resize(K);
  std::vector<std::size_t> place(predictions.size(), SIZE_MAX);  // in the result
  for (const AskedEntity& one : asked) {
    std::vector<std::size_t>& mine = of_entity[one.mode][one.id];
    std::stable_sort(mine.begin(), mine.end(), [&](std::size_t a, std::size_t b) {
      return predictions[a].probability > predictions[b].probability;  // else by cell, as recommend does
    });
    mine.resize(std::min(mine.size(), unseen_of_entity));
    for (std::size_t& e : mine) {
      if (place[e] == SIZE_MAX) {
        place[e] = result.predictions.size();
        result.cells.append(cells.data() + e * K, K);
        result.predictions.push_back(predictions[e]);
      }
      e = place[e];
    }
    result.modes[one.mode].push_back({one.id, mine});
  }
  result.parts = posterior.explain(result.cells.data(), result.predictions.size());
  result.held_out = outcomes(run_dir, posterior, result.cells, pool);
  for (std::size_t k = 0; k < K; ++k)
    std::sort(result.modes[k].begin(), result.modes[k].end(), [&](const auto& a, const auto& b) {
      return shown.modes[k].place_of(a.id) < shown.modes[k].place_of(b.id);
    });
  return result;
}

}  // namespace ztp
