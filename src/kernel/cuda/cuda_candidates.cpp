#include "kernel/cuda/cuda_candidates.hpp"

#include <algorithm>

namespace ztp::cuda {
namespace {

constexpr double part_of_free = 0.8;  // of the memory: what scores and weights may take

const Api& api() {
  return *library().api;
}

std::size_t multiple(std::size_t value, std::size_t of) {
  return (value + of - 1) / of * of;
}

// Entities of these lists, with their queries.
std::vector<QueryEntity> entities_of(const EntityLists& lists, std::size_t queries) {
  std::vector<QueryEntity> result;
  for (std::size_t b = 0; b < queries; ++b)
    for (const std::uint32_t j : lists.of(b)) result.push_back({static_cast<std::uint32_t>(b), j});
  return result;
}

}  // namespace

StagedComponents::StagedComponents(const ListedComponents& listed, Staging& staging)
    : listed_(listed),
      weight_(staging.add(listed.weight.data(), listed.weight.size())),
      segment_(staging.add(listed.segment.data(), listed.segment.size())),
      open_column_(staging.add(listed.open_column.data(), listed.open_column.size())),
      group_(staging.add(listed.group.data(), listed.group.size())) {
  for (const auto& column : listed.column) column_.push_back(staging.add(column.data(), column.size()));
}

ListedRates StagedComponents::rates(const unsigned char* sent, const FactorLayout& layout,
                                    const std::vector<const Factors*>& factors) const {
  const auto numbers = [&](std::size_t at) { return reinterpret_cast<const std::uint32_t*>(sent + at); };
  ListedRates result{};
  result.weight = reinterpret_cast<const double*>(sent + weight_);
  result.segment = numbers(segment_);
  result.column = numbers(open_column_);
  result.group = numbers(group_);
  result.K = static_cast<std::uint32_t>(listed_.given.size());
  result.group_mode = listed_.group_mode < listed_.given.size() ? static_cast<std::uint32_t>(listed_.group_mode) : none;
  result.scale = listed_.scale;
  for (std::size_t i = 0; i < listed_.given.size(); ++i) {
    if (i == listed_.group_mode) continue;
    const FactorArray u = on_device(*factors[layout.matrix(listed_.given[i])]).array();
    result.mode[i] = {u.values, listed_.column[i].empty() ? nullptr : numbers(column_[i]), u.stride};
  }
  return result;
}

CudaCandidates::CudaCandidates(const FactorLayout& layout, const CandidateSettings& settings, std::mutex& gpu)
    : gpu_(gpu),
      chains_(settings.chains),
      n_(layout.size_of_mode(settings.mode).rows),
      P_(layout.size_of_mode(settings.mode).columns),
      modes_(layout.modes()) {
  const std::size_t rows = multiple(n_, candidates_per_tile), columns = multiple(P_, columns_per_step);
  std::size_t free = 0, total = 0;
  check(api().memory(&free, &total), "free memory");
  factors_by_column_.reserve(rows * columns);
  const double room = part_of_free * static_cast<double>(free) - 4.0 * static_cast<double>(rows * columns);
  const double of_query = 4.0 * static_cast<double>((chains_.logits ? 2 : 1) * rows + 2 * columns + modes_ + 1);
  const auto fit = static_cast<std::size_t>(std::max(room, 0.0) / of_query);
  most_queries_ = std::clamp<std::size_t>(fit / candidates_per_tile * candidates_per_tile, candidates_per_tile,
                                          multiple(settings.queries, candidates_per_tile));
  weights_.reserve(most_queries_ * columns);
  weights_by_column_.reserve(most_queries_ * columns);
  scale_.reserve(most_queries_);
  sums_.reserve(most_queries_ * rows);
  if (chains_.logits) logits_.reserve(most_queries_ * rows);
}

CandidateArrays CudaCandidates::arrays() const {
  return {.others = others_.data(),
          .queries = batch_.count,
          .padded_queries = multiple(batch_.count, candidates_per_tile),
          .entities = n_,
          .padded_entities = multiple(n_, candidates_per_tile),
          .columns = static_cast<std::uint32_t>(P_),
          .padded_columns = static_cast<std::uint32_t>(multiple(P_, columns_per_step)),
          .weights = weights_.data(),
          .weights_by_column = weights_by_column_.data(),
          .factors_by_column = factors_by_column_.data(),
          .scale = scale_.data(),
          .sums = sums_.data(),
          .logits = chains_.logits ? logits_.data() : nullptr};
}

void CudaCandidates::begin(const QueryBatch& batch) {
  const std::lock_guard lock(gpu_);
  batch_ = batch;
  added_ = chain_ = 0;
  others_.write(batch.others, batch.count * (modes_ - 1));
  const CandidateArrays all = arrays();
  const std::size_t bytes = all.padded_queries * all.padded_entities * sizeof(float);
  check(api().clear(all.sums, bytes) || (all.logits != nullptr && api().clear(all.logits, bytes)) ||
            api().clear(all.scale, all.padded_queries * sizeof(float)),
        "scores set to zero");
}

void CudaCandidates::add(const State& draw) {
  const std::lock_guard lock(gpu_);
  const ListedComponents listed = listed_components(draw, batch_.mode);
  const StagedComponents staged(listed, staging_);
  std::vector<const Factors*> factors;
  for (const auto& matrix : draw.factors) factors.push_back(matrix.get());
  const FactorArray u = on_device(draw.of_mode(batch_.mode)).array();
  check(api().add_candidates(staged.rates(staging_.send(), draw.layout, factors), u, arrays()), "scores of candidates");
  if (++added_ != chains_.end[chain_]) return;
  const std::size_t first = chain_ == 0 ? 0 : chains_.end[chain_ - 1];
  if (chains_.logits) check(api().end_chain(arrays(), static_cast<double>(added_ - first)), "logits of candidates");
  ++chain_;
}

std::vector<float> CudaCandidates::scores(std::size_t query) {
  const std::lock_guard lock(gpu_);
  const CandidateArrays all = arrays();
  std::vector<float> result(n_);
  check(api().to_host(result.data(), (chains_.logits ? all.logits : all.sums) + query * all.padded_entities, n_ * 4),
        "scores of candidates");
  return result;
}

std::vector<std::vector<TiedOnes>> CudaCandidates::standings() {
  const std::lock_guard lock(gpu_);
  const std::vector<QueryEntity> tests = entities_of(batch_.tests, batch_.count),
                                 known = entities_of(batch_.known, batch_.count);
  tests_.write(tests.data(), tests.size());
  dropped_.write(known.data(), known.size());
  places_.reserve(tests.size());
  check(api().place_tests(arrays(), tests_.data(), tests.size(), dropped_.data(), known.size(), places_.data()),
        "places of candidates");
  std::vector<QueryPlace> places(tests.size());
  places_.read(places.data(), places.size());
  std::vector<std::vector<TiedOnes>> result(batch_.count);
  std::vector<OnePlace> of_query;
  for (std::size_t b = 0, i = 0; b < batch_.count; ++b) {
    of_query.clear();
    for (const std::size_t end = i + batch_.tests.of(b).size(); i < end; ++i)
      of_query.push_back({places[i].score, places[i].above, places[i].equal});
    result[b] = tied_ones(of_query);
  }
  return result;
}

}  // namespace ztp::cuda
