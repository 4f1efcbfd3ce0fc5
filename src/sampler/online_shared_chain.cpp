#include "sampler/online_shared_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sampler/online_columns.hpp"
#include "sampler/shared_columns.hpp"

namespace ztp {
namespace {

constexpr std::size_t most_steps_between_moves = 5;
constexpr double least_remembered = 1.0 / 64;  // counts of a component in a row

// Once in an epoch, if it is not longer than that.
std::size_t steps_between_moves(std::size_t minibatches) {
  return std::min(minibatches, most_steps_between_moves);
}

}  // namespace

double OnlineSharedChain::moves_in_a_step(std::uint64_t ones, std::int64_t minibatch) {
  const double minibatches = std::ceil(static_cast<double>(ones) / static_cast<double>(minibatch));
  return 1 / static_cast<double>(steps_between_moves(static_cast<std::size_t>(std::max(minibatches, 1.0))));
}

OnlineSharedChain::OnlineSharedChain(const Problem& problem, const OnlineOptions& options,
                                     const DataInMinibatches& data, Kernel& kernel, std::uint32_t number)
    : OnlineChain(problem, options, data, kernel, number), unlisted_(problem), documents_(problem.layout.modes()) {
  const FactorLayout& layout = problem.layout;
  parts_.K = layout.modes();
  for (std::size_t f = 0; f < layout.matrices(); ++f) column_sums_.emplace_back(layout.size(f).columns, 0);
}

void OnlineSharedChain::start() {
  draw_first_columns(counts_, state_.layout);
  OnlineChain::start();
}

double OnlineSharedChain::draw_counts(const Minibatches::Chunk& chunk, const DrawSettings& settings) {
  const TensorCells cells(
      {.coords = chunk.coords, .observed = chunk.observed, .count = chunk.ones.count(), .first = chunk.ones.first()},
      state_.layout, kernel_);
  const std::vector<std::int64_t> before = statistics_.tensor;
  parts_.clear();
  const double log_likelihood = cells.allocate(state_, counts_.key(Purpose::counts), settings, statistics_, parts_);
  for (std::size_t r = 0; r < before.size(); ++r) statistics_.from_ones[r] += statistics_.tensor[r] - before[r];
  remember_parts(settings.unit);
  return log_likelihood;
}

double OnlineSharedChain::impute_listed(const Minibatches::Chunk& chunk, const DrawSettings& settings) {
  const TensorCells cells(
      {.coords = chunk.coords, .count = chunk.ones.count(), .missing = true, .first = chunk.ones.first()},
      state_.layout, kernel_);
  parts_.clear();
  const double rate = cells.allocate(state_, counts_.key(Purpose::missing_cells), settings, statistics_, parts_);
  remember_parts(settings.unit);
  return rate;
}

double OnlineSharedChain::impute_unlisted(const DrawSettings& settings) {
  parts_.clear();
  const double rate = unlisted_.draw(state_, number_, t_, parts_);
  const FactorLayout& layout = state_.layout;
  std::vector<std::vector<RowChange>> changes(layout.matrices());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::int64_t units = settings.unit * parts_.count[i];
    statistics_.tensor[parts_.component[i]] += units;
    for (std::size_t k = 0; k < layout.modes(); ++k)
      changes[layout.matrix(k)].push_back(
          {parts_.cell(i)[k], static_cast<std::uint32_t>(layout.column(k, parts_.component[i])), units});
  }
  for (std::size_t f = 0; f < layout.matrices(); ++f)
    if (!layout.is_one_hot(f)) change_rows(changes[f], *statistics_.rows[f]);
  remember_parts(settings.unit);
  return rate;
}

void OnlineSharedChain::remember_parts(std::int64_t unit) {
  const FactorLayout& layout = state_.layout;
  for (std::size_t k = 0; k < layout.modes(); ++k) {
    const std::size_t f = layout.matrix(k);
    if (layout.is_one_hot(f)) continue;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const std::int64_t units = unit * parts_.count[i];
      documents_[k].add(parts_.component[i], parts_.cell(i)[k], units);
      column_sums_[f][layout.column(k, parts_.component[i])] += units;
    }
  }
}

double OnlineSharedChain::move_statistics(std::size_t b, bool few, bool likelihood) {
  const double log_likelihood = OnlineChain::move_statistics(b, few, likelihood);
  if (problem_.move_columns && t_ > problem_.columns_after && t_ % steps_between_moves(ones_.count()) == 0)
    move_columns();
  return log_likelihood;
}

// Reads and changes statistics, columns and documents.                                                           (M56)
void OnlineSharedChain::move_columns() {
  std::vector<Streams> streams;
  for (std::size_t k = 0; k < documents_.size(); ++k) {
    documents_[k].settle(units(least_remembered));
    streams.push_back({counts_.key(Purpose::column_moves, k), t_});
  }
  OnlineColumns(state_.shapes, {state_.layout, statistics_, column_sums_}).run(documents_, streams);
}

void OnlineSharedChain::clear_statistics() {
  OnlineChain::clear_statistics();
  for (RunningDocuments& of_mode : documents_) of_mode.clear();
  for (std::vector<std::int64_t>& sums : column_sums_) std::fill(sums.begin(), sums.end(), 0);
}

void OnlineSharedChain::rescale(int bits) {
  OnlineChain::rescale(bits);
  for (RunningDocuments& of_mode : documents_) of_mode.shift(bits);
  for (std::vector<std::int64_t>& sums : column_sums_)
    for (std::int64_t& sum : sums) sum = shifted(sum, bits);
}

std::vector<CheckpointField> OnlineSharedChain::checkpoint_fields() {
  std::vector<CheckpointField> fields = OnlineChain::checkpoint_fields();
  add_column_fields(state_.layout, fields);
  for (std::size_t f = 0; f < column_sums_.size(); ++f)
    fields.push_back({.name = fmt::format("column_sums{}", f),
                      .data = column_sums_[f].data(),
                      .bytes = column_sums_[f].size() * sizeof(std::int64_t)});
  const auto add = [&](std::string name, std::vector<RunningDocuments::Entry>& list) {
    fields.push_back({.name = std::move(name),
                      .data = list.data(),
                      .bytes = list.size() * sizeof(RunningDocuments::Entry),
                      .make_room = [&list](std::size_t bytes) {
                        list.assign((bytes + sizeof list[0] - 1) / sizeof list[0], {});
                        return static_cast<void*>(list.data());
                      }});
  };
  for (std::size_t k = 0; k < documents_.size(); ++k) {
    add(fmt::format("documents{}", k), documents_[k].stored());
    add(fmt::format("new_documents{}", k), documents_[k].added());
  }
  return fields;
}

void OnlineSharedChain::restore(std::uint32_t t) {
  OnlineChain::restore(t);
  const FactorLayout& layout = state_.layout;
  bool sound = columns_are_there(layout);
  for (std::size_t k = 0; k < documents_.size(); ++k)
    sound = sound && documents_[k].sound(layout.components(), layout.size_of_mode(k).rows);
  for (const std::vector<std::int64_t>& sums : column_sums_)
    sound = sound && std::all_of(sums.begin(), sums.end(), [](std::int64_t sum) { return sum >= 0; });
  if (!sound) throw damaged_checkpoint();
}

}  // namespace ztp
