#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "posterior/posterior_impl.hpp"
#include "store/data.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr std::size_t draws_for_shares = 10;
constexpr std::size_t ones_for_shares = 200000;
constexpr std::size_t floats_for_intervals = std::size_t{64} << 20;

// The part of the rate of each of these ones that each component has, summed over the ones.
std::vector<double> sum_of_shares(Kernel& kernel, const Rates& rates, const SparseTensor& tensor,
                                  const std::vector<std::size_t>& ones) {
  const std::size_t R = rates.R();
  const Blocks blocks{ones.size(), 4096};
  std::vector<double> total(R, 0.0), parts, of_block;
  std::vector<std::uint32_t> cells;
  for (std::size_t b = 0; b < blocks.count(); ++b) {
    cells.clear();
    for (std::size_t e = blocks.begin(b); e < blocks.end(b); ++e)
      cells.insert(cells.end(), tensor.cell(ones[e]), tensor.cell(ones[e]) + tensor.order());
    const std::size_t count = blocks.end(b) - blocks.begin(b);
    parts.resize(count * R);
    kernel.score_parts(cells.data(), count, rates, parts.data());
    of_block.assign(R, 0.0);
    for (std::size_t e = 0; e < count; ++e) {
      const double* z_r = &parts[e * R];
      const double z = std::accumulate(z_r, z_r + R, 0.0);
      for (std::size_t r = 0; z > 0 && r < R; ++r) of_block[r] += z_r[r] / z;  // (M4)
    }
    for (std::size_t r = 0; r < R; ++r) total[r] += of_block[r];
  }
  return total;
}

double mean(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

std::vector<Component::Entity> top_entities(const Matrix<float>& u, std::size_t q, std::size_t top) {
  std::vector<std::uint32_t> ids(u.rows());
  std::iota(ids.begin(), ids.end(), 0u);
  const std::size_t count = std::min(top, ids.size());
  std::partial_sort(
      ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count), ids.end(),
      [&](std::uint32_t a, std::uint32_t b) { return u.row(a)[q] != u.row(b)[q] ? u.row(a)[q] > u.row(b)[q] : a < b; });
  std::vector<Component::Entity> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back({ids[i], static_cast<double>(u.row(ids[i])[q])});
  return result;
}

std::vector<std::size_t> Posterior::Impl::draws_of(std::size_t chain) const {
  std::vector<std::size_t> mine;
  for (std::size_t i = 0; i < draws.draws().size(); ++i)
    if (draws.draws()[i].chain == chain) mine.push_back(i);
  if (mine.empty())
    throw Error(ErrorKind::config,
                fmt::format("{}: chain {} (counted from 1) has no draws; number of chains in the run: {}", run_dir,
                            chain + 1, info.options.chains));
  return mine;
}

std::vector<std::vector<float>> Posterior::Impl::weights(const std::vector<std::size_t>& of_draws,
                                                         std::size_t network) const {
  std::vector<std::vector<float>> weights;
  for (const std::size_t i : of_draws) {
    const std::vector<double> log_weight = draws.log_weights(i, network);
    weights.resize(log_weight.size());
    for (std::size_t r = 0; r < weights.size(); ++r) weights[r].push_back(static_cast<float>(std::exp(log_weight[r])));
  }
  return weights;
}

Matrix<float> Posterior::Impl::mean_factor(std::size_t chain, std::size_t k) {
  if (!means) means.emplace(run_dir, info);
  return means->factor(chain, layout.matrix(k));
}

std::vector<float> Posterior::mean_factor(std::size_t mode, std::size_t chain) {
  impl_->require_rates("mean_factor");
  impl_->require_mode("mean_factor", mode);
  impl_->draws_of(chain);
  const Matrix<float> u = impl_->mean_factor(chain, mode);
  std::vector<float> rows;
  rows.reserve(u.rows() * u.columns());
  for (std::size_t j = 0; j < u.rows(); ++j) rows.insert(rows.end(), u.row(j), u.row(j) + u.columns());
  return rows;
}

std::vector<double> Posterior::mean_weights(std::size_t chain) {
  impl_->require_rates("mean_weights");
  std::vector<double> means;
  for (const std::vector<float>& of_component : impl_->weights(impl_->draws_of(chain)))
    means.push_back(mean(of_component));
  return means;
}

std::vector<Interval> Posterior::factor_intervals(const std::vector<FactorPlace>& places, std::size_t chain) {
  impl_->require_rates("factor_intervals");
  const FactorLayout& layout = impl_->layout;
  for (const FactorPlace& place : places)
    if (place.mode >= layout.modes() || place.entity >= layout.size_of_mode(place.mode).rows ||
        place.column >= layout.size_of_mode(place.mode).columns)
      throw Error(ErrorKind::usage, fmt::format("factor_intervals: there is no entity {} in column {} of mode {}",
                                                place.entity, place.column, place.mode));
  const std::vector<std::size_t> mine = impl_->draws_of(chain);
  std::vector<Interval> result(places.size());
  const std::size_t D = mine.size(), at_a_time = std::max<std::size_t>(1, floats_for_intervals / D);
  std::vector<float> values;  // place by place
  Matrix<float> u;
  for (std::size_t first = 0; first < places.size(); first += at_a_time) {
    const std::size_t count = std::min(at_a_time, places.size() - first);
    values.resize(count * D);
    std::vector<bool> asked(layout.modes(), false);
    for (std::size_t i = 0; i < count; ++i) asked[places[first + i].mode] = true;
    for (std::size_t d = 0; d < D; ++d)
      for (std::size_t k = 0; k < asked.size(); ++k) {
        if (!asked[k]) continue;
        impl_->draws.load_factor(mine[d], layout.matrix(k), u);  // times n
        for (std::size_t i = 0; i < count; ++i)
          if (const FactorPlace& place = places[first + i]; place.mode == k)
            values[i * D + d] = u.row(place.entity)[place.column] / static_cast<float>(u.rows());
      }
    const Blocks blocks{count, 1024};
    impl_->pool.for_blocks(blocks.count(), [&](std::size_t b) {
      for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i) {
        float* of_place = values.data() + i * D;
        std::sort(of_place, of_place + D);
        result[first + i] = {quantile(of_place, D, 0.05), quantile(of_place, D, 0.95)};
      }
    });
  }
  return result;
}

std::vector<std::vector<float>> Posterior::network_weights(std::size_t network, std::size_t chain) {
  impl_->require_rates("network_weights");
  if (network >= impl_->info.networks.size())
    throw Error(ErrorKind::usage, fmt::format("network_weights: there is no network {} (from 0)", network));
  return impl_->weights(impl_->draws_of(chain), network + 1);
}

std::vector<std::size_t> Posterior::chains() const {
  std::vector<std::size_t> chains;
  for (const DrawsFile::Index& draw : impl_->draws.draws())  // chain after chain
    if (chains.empty() || draw.chain != chains.back()) chains.push_back(draw.chain);
  return chains;
}

std::size_t Posterior::draws_of(std::size_t chain) const {
  return impl_->draws_of(chain).size();
}

std::vector<Component> Posterior::components(std::size_t top, std::size_t chain) {
  impl_->require_components("components", "has columns and a core");
  const std::size_t R = impl_->layout.components();
  const std::vector<std::size_t> mine = impl_->draws_of(chain);
  std::vector<std::vector<float>> weights = impl_->weights(mine);
  std::vector<double> share(R, 0.0);
  const SparseTensor tensor = sample_of_ones(impl_->run_dir, impl_->info, ones_for_shares);
  const std::vector<std::size_t> ones = evenly_spaced(tensor.nnz(), ones_for_shares);
  const std::vector<std::size_t> picked = evenly_spaced(mine.size(), draws_for_shares);
  for (const std::size_t pick : picked) {
    impl_->draws.load(mine[pick], impl_->whole_draw());
    const std::vector<double> sums = sum_of_shares(*impl_->kernel, tensor_rates(impl_->whole_draw()), tensor, ones);
    for (std::size_t r = 0; r < R; ++r) share[r] += sums[r];
  }

  const Matching matching = match_chains(chain);
  std::vector<Component> components(R);
  for (std::size_t r = 0; r < R; ++r) {
    Component& component = components[r];
    component.number = r + 1;
    component.weight = mean(weights[r]);
    std::sort(weights[r].begin(), weights[r].end());
    component.weight_q05 = quantile(weights[r].data(), mine.size(), 0.05);
    component.weight_q95 = quantile(weights[r].data(), mine.size(), 0.95);
    component.stability = matching.components[r].stability;
    component.share = share[r] / static_cast<double>(picked.size() * ones.size());
  }
  for (std::size_t k = 0; k < impl_->modes.size(); ++k) {
    const Matrix<float> u = impl_->mean_factor(chain, k);
    for (std::size_t r = 0; r < R; ++r) components[r].top.push_back(top_entities(u, impl_->layout.column(k, r), top));
  }
  std::stable_sort(components.begin(), components.end(),
                   [](const Component& a, const Component& b) { return a.weight > b.weight; });
  return components;
}

}  // namespace ztp
