#include "posterior/cell_filter.hpp"

#include <fmt/format.h>

#include "store/data.hpp"
#include "tensor/missing.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

void check(const RecommendOptions& options, const std::vector<Mode>& modes, const GivenEntities& given) {
  const auto refuse = [](const std::string& what) { throw Error(ErrorKind::usage, "recommend: " + what); };
  const std::size_t K = modes.size();
  if (options.exclude_entities.size() > K || options.exclude_cells.size() % K != 0)
    refuse("excluded entities need a list for each mode at most, and excluded cells an id for each mode");
  for (const auto& [what, mode] :
       {std::pair{"--distinct", options.distinct}, std::pair{"--only-new", options.only_new}}) {
    if (mode && *mode >= K) refuse(fmt::format("{}: there is no mode {} (from 0)", what, *mode));
    if (mode && given[*mode])
      refuse(fmt::format("{}: an entity of {} is given; name a mode that is left open", what, modes[*mode].name));
  }
  for (std::size_t i = 0; i < options.exclude_cells.size(); ++i)
    if (options.exclude_cells[i] >= modes[i % K].labels.size())
      refuse(fmt::format("an excluded cell has the id {} of mode {}, which has {} entities", options.exclude_cells[i],
                         modes[i % K].name, modes[i % K].labels.size()));
  for (std::size_t k = 0; k < options.exclude_entities.size(); ++k)
    for (const std::uint32_t id : options.exclude_entities[k]) {
      if (id >= modes[k].labels.size())
        refuse(fmt::format("the excluded id {} of mode {}, which has {} entities", id, modes[k].name,
                           modes[k].labels.size()));
      if (given[k] && *given[k] == id)
        refuse(
            fmt::format("{} {} is both given and excluded; drop one of the two", modes[k].name, modes[k].labels[id]));
    }
}

CellSet held_out_cells(const TestCells& test, const RunInfo& info, std::size_t K) {
  CellSet cells(K);
  if (info.options.holdout_as == HoldoutAs::missing) cells.add(test.coords.data(), test.size());
  cells.finish();
  return cells;
}

}  // namespace

CellFilter::CellFilter(const std::string& run_dir, const RunInfo& info, const FactorLayout& layout,
                       const std::vector<Mode>& modes, GivenEntities given, const RecommendOptions& options)
    : given_(std::move(given)),
      self_(layout, info.options.self_cells == SelfCells::missing),
      excluded_(modes.size()),
      excluded_cells_(modes.size()),
      held_out_(modes.size()) {
  check(options, modes, given_);
  data_ = data_matching(run_dir, info, given_);
  TestCells test;
  if (!data_.missing.cells.empty() || options.only_new) test = load_test_cells(run_dir, info, modes, 1);
  held_out_ = held_out_cells(test, info, modes.size());
  excluded_cells_.add(options.exclude_cells.data(), options.exclude_cells.size() / given_.size());
  excluded_cells_.finish();
  for (std::size_t k = 0; k < options.exclude_entities.size(); ++k) exclude(k, options.exclude_entities[k]);
  if (options.only_new) {
    std::vector<std::uint32_t> known;
    for_ones([&](const std::uint32_t* cell) { known.push_back(cell[*options.only_new]); });
    for (std::size_t e = 0; e < test.size(); ++e) {
      const std::uint32_t* cell = test.coords.data() + e * modes.size();
      if (test.outcome[e] == 1 && agrees(cell)) known.push_back(cell[*options.only_new]);
    }
    exclude(*options.only_new, std::move(known));
  }
  if (const auto twins = self_.modes())
    for (const auto& [k, l] : {std::pair{twins->first, twins->second}, std::pair{twins->second, twins->first}})
      if (given_[k]) exclude(l, {*given_[k]});
}

void CellFilter::exclude(std::size_t k, std::vector<std::uint32_t> ids) {
  std::vector<std::uint32_t>& all = excluded_[k];
  all.insert(all.end(), ids.begin(), ids.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

bool CellFilter::is_missing(const std::uint32_t* cell) const {
  const std::size_t K = given_.size();
  if (in_missing_slice(data_.missing, cell)) return true;
  const bool listed = find_record(data_.missing.cells, K, cell) < data_.missing.cells.size() / K;
  return listed && !held_out_.contains(cell);
}

bool CellFilter::is_missing_entity(std::size_t mode, std::uint32_t id) const {
  for (std::size_t k = 0; k < data_.missing.slices.size(); ++k) {
    const std::optional<std::uint32_t> one = k == mode ? std::optional(id) : given_[k];
    if (one && is_excluded(data_.missing.slices, k, *one)) return true;
  }
  return false;
}

}  // namespace ztp
