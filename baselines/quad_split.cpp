// PW-QuadApp: which blocks are divided, and how.
#include <algorithm>
#include <numeric>

#include "baselines/quad_chain.hpp"

namespace ztp {

// The best way to divide the entities that a block has in mode k: their energies by (M42), the cut by (M45).
// Reads factors and moments, O(n R^2), and a look at their missing cells.
Cut QuadChain::find_cut(std::size_t block, std::size_t k, const std::vector<double>& missing_energy) const {
  const std::size_t R = problem_.R;
  std::vector<double> others(width());
  others_of_block(block, k, others.data());
  const double *sum = &others[1], *gram = &others[1 + R];
  std::vector<Slice> slices;
  for (const std::uint32_t j : partition_.entities_of(block, k)) {
    const float* u = u_[k].row(j);
    Totals slice{others[0], 0, 0};
    for (std::size_t r = 0; r < R; ++r) {
      double product = 0;
      for (std::size_t s = 0; s < R; ++s) product += gram[r * R + s] * static_cast<double>(u[s]);
      slice.z2 += product * static_cast<double>(u[r]);
      slice.z += sum[r] * static_cast<double>(u[r]);
    }
    Slice result{j, slice.cells, slice.energy(intercept_)};
    for (std::uint64_t i = hidden_.empty() ? 0 : hidden_[k].begin[j]; !hidden_.empty() && i < hidden_[k].begin[j + 1];
         ++i) {
      const std::size_t cell = hidden_[k].entry.empty() ? i : hidden_[k].entry[i];
      if (missing_block_[cell] != block) continue;
      result.cells -= 1;
      result.energy -= missing_energy[cell];
    }
    slices.push_back(result);
  }
  Cut cut = best_cut(std::move(slices));
  cut.mode = k;
  return cut;
}

// Of these blocks, over all modes.
void QuadChain::find_cuts(const std::vector<std::size_t>& of, const std::vector<double>& missing_energy,
                          std::vector<Cut>& cuts) const {
  std::vector<Cut> found(of.size() * order());
  pool_.for_blocks(found.size(),
                   [&](std::size_t i) { found[i] = find_cut(of[i / order()], i % order(), missing_energy); });
  for (std::size_t i = 0; i < found.size(); ++i) {
    Cut& cut = cuts[of[i / order()]];
    if (i % order() == 0 || found[i].gain > cut.gain) cut = std::move(found[i]);
  }
}

// Splits the block that gains most, again and again, until there are as many as wanted or nothing is gained.
void QuadChain::grow(std::size_t wanted) {
  if (blocks() >= wanted) return;
  std::vector<double> energy(missing_count());
  if (!energy.empty()) logits(pool_, model(), problem_.missing->data(), energy.size(), energy.data());
  for (double& theta : energy) theta *= theta;
  std::vector<Cut> cuts(blocks());
  std::vector<std::size_t> of(blocks());
  std::iota(of.begin(), of.end(), std::size_t{0});
  while (blocks() < wanted) {
    find_cuts(of, energy, cuts);
    const auto best = std::max_element(cuts.begin(), cuts.end(), [](auto& a, auto& b) { return a.gain < b.gain; });
    if (best->moved.empty()) break;
    const auto block = static_cast<std::size_t>(best - cuts.begin());
    record_split(block, *best);
    apply_split(splits_[0] - 1);
    divide_moments(block, best->mode);
    of = {block, blocks() - 1};
    cuts.resize(blocks());
  }
  // In the order in which they are summed up after a checkpoint.
  for (std::size_t k = 0; k < order(); ++k) update_moments(k);
  sum_blocks();
  update_bounds();
}

// Those of the last block, which was part of another one until now, and of the rest of that one. O(n R^2).
void QuadChain::divide_moments(std::size_t block, std::size_t k) {
  const std::size_t R = problem_.R, added = blocks() - 1;
  for (std::size_t other = 0; other < order(); ++other)
    std::copy_n(moments_[other].row(block), width(), moments_[other].row(added));
  for (const std::size_t b : {block, added}) {
    double* m = moments_[k].row(b);
    std::fill(m, m + width(), 0.0);
    for (const std::uint32_t j : partition_.entities_of(b, k)) {
      const float* u = u_[k].row(j);
      m[0] += 1;
      for (std::size_t r = 0; r < R; ++r) {
        m[1 + r] += static_cast<double>(u[r]);
        for (std::size_t s = 0; s < R; ++s)
          m[1 + R + r * R + s] += static_cast<double>(u[r]) * static_cast<double>(u[s]);
      }
    }
  }
}

void QuadChain::record_split(std::size_t block, const Cut& cut) {
  const std::size_t s = splits_[0]++;
  splits_[1 + 2 * s] = static_cast<std::uint32_t>(block);
  splits_[2 + 2 * s] = static_cast<std::uint32_t>(cut.mode);
  const auto words = sides_.begin() + static_cast<std::ptrdiff_t>(s * words_);
  std::fill(words, words + static_cast<std::ptrdiff_t>(words_), 0);
  for (const std::uint32_t j : cut.moved) sides_[s * words_ + j / 64] |= std::uint64_t{1} << (j % 64);
}

// As recorded: makes block s + 1.
void QuadChain::apply_split(std::size_t s) {
  const std::size_t block = splits_[1 + 2 * s], k = splits_[2 + 2 * s];
  std::vector<bool> moved(sizes_[k]);
  for (std::size_t j = 0; j < sizes_[k]; ++j) moved[j] = moves(s, static_cast<std::uint32_t>(j));
  partition_.split(block, k, moved);
  for (std::size_t i = 0; i < missing_count(); ++i)
    if (missing_block_[i] == block && moved[missing_cell(i)[k]]) missing_block_[i] = static_cast<std::uint16_t>(s + 1);
}

std::size_t QuadChain::block_of(const std::uint32_t* cell) const {
  std::size_t block = 0;
  for (std::size_t s = 0; s < splits_[0]; ++s)
    if (splits_[1 + 2 * s] == block && moves(s, cell[splits_[2 + 2 * s]])) block = s + 1;
  return block;
}

}  // namespace ztp
