#include "report/promising_cells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "posterior/quantile.hpp"
#include "report/mean_factor.hpp"
#include "report/top_rows.hpp"

namespace ztp {
namespace {

// Of an entity and a chain, and how small the largest rate of the last of them may be, relative to that of the first.
constexpr std::size_t most_combined = 24;
constexpr double least_rate = 1e-3;
// Of each component and mode, what is looked at; of a mode, what is combined with others, and cells to which a further
// mode is added. With two modes there is nothing to combine.
constexpr std::size_t top_of_more = 128, entities_of_mode = 64;
constexpr std::size_t top_of_pairs = 512, entities_of_pairs = 1024;
// The same where components share columns. Entities and components go from column to column between draws, so that
// means tell little: some draws take the place of chains. An entity has a few columns, which many components use; where
// these belong to entities of a one-hot mode, few of them meet in a cell.
constexpr std::size_t draws_looked_at = 50, most_sharing = 48, entities_of_sharing = 96, entities_of_one_hot = 256;
constexpr double least_weight = 0.05;  // of a component: others hardly make a cell probable
// Of factors: with more chains than fit, the first ones have to do.
constexpr std::size_t most_bytes = std::size_t{2} << 30;
constexpr double no_limit = std::numeric_limits<double>::infinity();

// 1 - exp(-z) to 3 % or better, the order kept: this is called a hundred million times.
double about_probability(double z) {
  return 1 - 1 / (1 + z * (1 + z * (0.5 + z / 6)));
}

}  // namespace

PromisingCells::PromisingCells(const std::string& run_dir, Posterior& posterior)
    : layout_(layout_of(posterior)), K_(layout_.modes()) {
  std::size_t bytes = 0;  // of the factors of a chain
  for (std::size_t k = 0; k < K_; ++k)
    bytes += layout_.size_of_mode(k).rows * layout_.size_of_mode(k).columns * sizeof(float);
  const std::size_t most = std::max<std::size_t>(1, most_bytes / bytes);
  if (layout_.columns_are_components()) {
    most_main_ = most_combined;
    most_of_mode_ = K_ == 2 ? entities_of_pairs : entities_of_mode;
    for (const std::size_t c : posterior.chains())
      if (chains_.size() < most) add_chain(posterior, c);
  } else {
    const bool one_hot = layout_.one_hot_mode() < K_;
    most_main_ = most_sharing;
    most_of_mode_ = K_ == 2 ? entities_of_pairs : one_hot ? entities_of_one_hot : entities_of_sharing;
    const DrawsFile draws(run_dir, posterior.info());
    for (const std::size_t i : evenly_spaced(draws.draws().size(), std::min(most, draws_looked_at))) add_draw(draws, i);
  }
  double draws = 0;  // of an interrupted run, not as many of each chain
  for (const Chain& chain : chains_) draws += chain.part;
  for (Chain& chain : chains_) chain.part /= draws;
  for (const bool one_hot : {true, false})
    for (std::size_t k = 0; k < K_; ++k)
      if (layout_.is_one_hot(layout_.matrix(k)) == one_hot) order_.push_back(k);
}

void PromisingCells::add_chain(Posterior& posterior, std::size_t c) {
  std::vector<double> log_weight = posterior.mean_weights(c);
  for (double& weight : log_weight) weight = std::log(weight);
  auto layout = std::make_unique<FactorLayout>(layout_);
  OpenRates rates(*layout, log_weight);
  Chain chain{static_cast<double>(posterior.draws_of(c)), std::move(layout), std::move(rates), {}, {}};
  for (std::size_t k = 0; k < K_; ++k) add_mode(posterior.mean_factor(k, c), k, chain);
  chains_.push_back(std::move(chain));
}

void PromisingCells::add_draw(const DrawsFile& draws, std::size_t i) {
  std::vector<std::size_t> matrix_of_mode;
  std::vector<FactorLayout::Size> sizes;
  std::vector<std::vector<std::uint32_t>> all, columns(K_);
  for (std::size_t k = 0; k < K_; ++k) {
    matrix_of_mode.push_back(layout_.matrix(k));
    all.push_back(draws.columns(i, k));
  }
  for (std::size_t f = 0; f < layout_.matrices(); ++f) sizes.push_back(layout_.size(f));
  std::vector<double> log_weight;
  const std::vector<double> of_draw = draws.log_weights(i);
  for (std::size_t r = 0; r < of_draw.size(); ++r) {
    if (of_draw[r] < std::log(least_weight)) continue;
    log_weight.push_back(of_draw[r]);
    for (std::size_t k = 0; k < K_; ++k) columns[k].push_back(all[k][r]);
  }
  if (log_weight.empty()) return;
  auto layout = std::make_unique<FactorLayout>(std::move(matrix_of_mode), std::move(sizes), log_weight.size(),
                                               std::move(columns));
  OpenRates rates(*layout, log_weight);
  Chain chain{1, std::move(layout), std::move(rates), {}, {}};
  Matrix<float> scaled;  // times n
  for (std::size_t k = 0; k < K_; ++k) {
    draws.load_factor(i, layout_.matrix(k), scaled);
    std::vector<float> u;
    for (std::size_t j = 0; j < scaled.rows(); ++j)
      for (std::size_t q = 0; q < scaled.columns(); ++q)
        u.push_back(scaled.row(j)[q] / static_cast<float>(scaled.rows()));
    add_mode(std::move(u), k, chain);
  }
  chains_.push_back(std::move(chain));
}

void PromisingCells::add_mode(std::vector<float> u, std::size_t k, Chain& chain) const {
  const FactorLayout::Size& size = layout_.size_of_mode(k);
  std::vector<std::size_t> all(size.columns);
  std::iota(all.begin(), all.end(), std::size_t{0});
  chain.top.push_back(top_rows(u, size.columns, all, K_ == 2 ? top_of_pairs : top_of_more));
  std::vector<float> largest, divisor;
  for (std::size_t q = 0; q < size.columns; ++q) {
    const float value = u[chain.top[k][q].front() * size.columns + q];
    largest.push_back(value * static_cast<float>(size.rows));
    divisor.push_back(value > 0 ? value : 1.0f);
    std::erase_if(chain.top[k][q], [&](std::uint32_t id) { return u[id * size.columns + q] == 0; });
  }
  chain.rates.give(k, largest.data());
  for (std::size_t i = 0; i < u.size(); ++i) u[i] /= divisor[i % size.columns];
  chain.u.push_back(std::move(u));
}

std::vector<PromisingCells::Main> PromisingCells::main_components(std::size_t mode, std::uint32_t entity) const {
  std::vector<Main> main;
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    const std::size_t R = chains_[c].layout->components();
    const std::size_t count = std::min(most_main_, R);
    OpenRates rates = chains_[c].rates;
    rates.give(mode, chains_[c].u[mode].data() + entity * layout_.size_of_mode(mode).columns);
    std::vector<Main> of_chain;
    for (std::size_t r = 0; r < R; ++r) of_chain.push_back({c, r, rates.part(r)});
    std::partial_sort(of_chain.begin(), of_chain.begin() + static_cast<std::ptrdiff_t>(count), of_chain.end(),
                      [](const Main& a, const Main& b) { return a.rate > b.rate; });
    of_chain.resize(count);
    for (const Main& one : of_chain)
      if (one.rate > 0 && one.rate >= least_rate * of_chain[0].rate) main.push_back(one);
  }
  return main;
}

float PromisingCells::relative(const Main& main, std::size_t mode, std::uint32_t id) const {
  const Chain& chain = chains_[main.chain];
  return chain.u[mode][id * layout_.size_of_mode(mode).columns + chain.layout->column(mode, main.component)];
}

// The entities that give most with the best of all other modes, among those at the top of a main component. What an
// entity has of components at whose top it is not is left out here: few numbers are looked at, and what is left out is
// small.
std::vector<std::uint32_t> PromisingCells::candidates(std::size_t mode, const std::vector<Main>& main,
                                                      Scratch& scratch) const {
  std::vector<double>&z = scratch.rate, &probability = scratch.probability;
  z.resize(std::max(z.size(), layout_.size_of_mode(mode).rows), 0.0);
  probability.resize(z.size(), 0.0);
  std::vector<std::uint32_t> ids, of_chain;
  for (std::size_t begin = 0, end; begin < main.size(); begin = end) {
    const Chain& chain = chains_[main[begin].chain];
    of_chain.clear();
    for (end = begin; end < main.size() && main[end].chain == main[begin].chain; ++end)
      for (const std::uint32_t id : chain.top[mode][chain.layout->column(mode, main[end].component)]) {
        if (z[id] == 0) of_chain.push_back(id);
        z[id] += main[end].rate * static_cast<double>(relative(main[end], mode, id));
      }
    for (const std::uint32_t id : of_chain) {
      if (z[id] == 0) continue;  // a second time
      if (probability[id] == 0) ids.push_back(id);
      probability[id] += chain.part * about_probability(z[id]);
      z[id] = 0;
    }
  }
  const std::size_t count = std::min(ids.size(), most_of_mode_);
  std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count), ids.end(),
                    [&](std::uint32_t a, std::uint32_t b) {
                      return probability[a] != probability[b] ? probability[a] > probability[b] : a < b;
                    });
  for (const std::uint32_t id : ids) probability[id] = 0;
  ids.resize(count);
  return ids;
}

PromisingCells::Beam PromisingCells::extended(const Beam& beam, std::size_t mode, const std::vector<std::uint32_t>& ids,
                                              const std::vector<Main>& main, std::size_t most, double zeros) const {
  const std::size_t S = ids.size(), M = main.size();
  std::vector<float> u(M * S);  // component by component
  for (std::size_t s = 0; s < S; ++s)
    for (std::size_t i = 0; i < M; ++i) u[i * S + s] = relative(main[i], mode, ids[s]);
  std::vector<double> probability(beam.size() * S, 0.0);
  std::vector<float> z(S);
  for (std::size_t b = 0; b < beam.size(); ++b)
    for (std::size_t begin = 0, end; begin < M; begin = end) {  // chain by chain
      const double unit = main[begin].rate;                     // the largest: floats hold what matters
      bool any = false;
      for (end = begin; end < M && main[end].chain == main[begin].chain; ++end) {
        const float factor = static_cast<float>(main[end].rate / unit) * beam.product[b * M + end];
        if (factor == 0) continue;  // as of components of another entity of a one-hot mode
        if (!any) std::fill(z.begin(), z.end(), 0.0f);
        any = true;
        const float* of_component = u.data() + end * S;
        for (std::size_t s = 0; s < S; ++s) z[s] += factor * of_component[s];
      }
      if (!any) continue;
      double* const sum = probability.data() + b * S;
      const double part = chains_[main[begin].chain].part;
      for (std::size_t s = 0; s < S; ++s) sum[s] += part * about_probability(unit * static_cast<double>(z[s]));
    }
  Beam result;
  std::vector<std::uint32_t> order(probability.size());
  std::iota(order.begin(), order.end(), 0u);
  most = std::min(most, order.size());
  for (std::size_t first = 0, count = 64; first < most && zeros > 0; first = count, count *= 4) {
    count = std::min(count, most);
    std::partial_sort(order.begin() + static_cast<std::ptrdiff_t>(first),
                      order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                      [&](std::uint32_t a, std::uint32_t b) {
                        return probability[a] != probability[b] ? probability[a] > probability[b] : a < b;
                      });
    for (std::size_t i = first; i < count && zeros > 0; ++i) {
      const std::size_t b = order[i] / S, s = order[i] % S;
      zeros -= 1 - probability[order[i]];
      result.probability.push_back(probability[order[i]]);
      result.cells.insert(result.cells.end(), beam.cells.data() + b * K_, beam.cells.data() + (b + 1) * K_);
      result.cells[result.cells.size() - K_ + mode] = ids[s];
      for (std::size_t m = 0; m < M; ++m) result.product.push_back(beam.product[b * M + m] * u[m * S + s]);
    }
  }
  result.all = result.size() == order.size();
  return result;
}

PromisingCells::Found PromisingCells::of(std::size_t mode, std::uint32_t entity, double zeros, Scratch& scratch) const {
  const std::vector<Main> main = main_components(mode, entity);
  if (main.empty()) return {{}, true};
  Beam beam;
  beam.cells.assign(K_, 0);
  beam.cells[mode] = entity;
  beam.product.assign(main.size(), 1.0f);
  beam.probability = {1};
  std::size_t chosen = 0;
  for (const std::size_t k : order_) {
    if (k == mode) continue;
    const bool last = ++chosen == K_ - 1;
    beam =
        extended(beam, k, candidates(k, main, scratch), main, last ? SIZE_MAX : most_of_mode_, last ? zeros : no_limit);
  }
  return {std::move(beam.cells), beam.all};
}

}  // namespace ztp
