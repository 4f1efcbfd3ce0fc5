// Counter-based randomness (Philox4x32-10). Every draw is a pure function of (seed, chain, purpose, mode, update;
// sweep, index, draw number) and so does not depend on threads, restarts or the order of work.
#pragma once
// Philox needs no intrinsics: without them this header takes half as long to compile, and it is everywhere.
#define R123_USE_X86INTRIN_H 0
#define R123_USE_SSE 0
#define R123_USE_AES_NI 0
#include <Random123/philox.h>

#include <array>
#include <cstdint>

#include "base/device.hpp"

namespace ztp {

__extension__ using uint128 = unsigned __int128;

// What a stream of random numbers is for. The values are part of the meaning of a seed: never renumber, only append.
enum class Purpose : std::uint32_t {
  start = 1,           // initial allocation of ones, index = one
  columns = 2,         // factor columns u, mode = k, index = (row, component)
  weights = 3,         // p and lambda, index = component
  counts = 4,          // latent counts of the ones, index = one
  edge_start = 5,      // initial allocation of edges, mode = network, index = edge
  edge_counts = 6,     // latent counts of the edges, mode = network, index = edge
  edge_weights = 7,    // h and beta, mode = network, index = component
  diagonal = 8,        // imputed diagonal counts, mode = network, index = component
  holdout = 9,         // which ones are held out, index = one
  zeros = 10,          // drawn zero cells, index = test one
  simulate = 11,       // synthetic data
  missing_cells = 12,  // latent counts of listed missing cells, index = cell
  missing_pairs = 13,  // likewise of a network's missing pairs, mode = network, index = pair
  slice_totals = 14,   // latent counts of the missing slices of a mode, index = component
  // where they fall, mode = (mode of the slices) K + (mode placed), index = (block of rows, component)
  slice_places = 15,
  learn_dirichlet = 16,  // a, mode = k
  learn_shape = 17,      // g; mode = 1 + m: f of network m
  watch = 18,            // cells whose probabilities are followed
  collapsed = 19,        // components of counts with the parameters integrated out, index = its steps
  minibatches = 20,      // their order, sweep = epoch; mode = 1 + m: of edges of network m, then of missing cells
  rival_start = 21,      // a rival's initial factors, mode = k, index = row
  rival_zeros = 22,      // which zeros the logistic model is fitted to
  polya_gamma = 23,      // its latent variables, index = cell
  rival_rows = 24,       // its factors, mode = k, index = row; mode = K: weights and intercept
  rival_weights = 25,    // its shrinkage
  replicates = 26,       // data drawn from the posterior, sweep = replicate, mode = k or K, index = (component, points)
  column_start = 27,     // first columns of components that share them, mode = k, index = component
  empty_columns = 28,    // columns of components without counts, mode = k, index = component, R: their shares
  self_cells = 29,       // imputed counts of cells (i, i), index = component
  column_moves = 30,     // moves of counts and components between columns, index = its steps
  calibration = 31,      // cells that calibrate probabilities: mode 0 drawn by rate, index = draw; 1: their folds
  map_uncertainty = 32,  // the map of a draw, index = draw
};

struct StreamKey {
  std::uint32_t word[2];
};

// What else tells the streams of a run apart. All zero in a batch fit.
struct KeyPart {
  std::uint32_t update = 0;  // of how many updates the run has had: each has random numbers of its own; below 2^24
  std::uint32_t draw = 0;    // of several draws of the same parameters in one step
};

// Philox itself mixes (seed, chain, purpose, mode, part) into the key of a family of streams. Different coordinates of
// one seed are different counters of Philox, and so different keys but for chance.
ZTP_DEVICE inline StreamKey stream_key(std::uint64_t seed, std::uint32_t chain, Purpose purpose, std::uint32_t mode = 0,
                                       KeyPart part = {}) {
  const r123::Philox4x32::ctr_type counter = {
      {chain, static_cast<std::uint32_t>(purpose) | part.update << 8, mode, 0x7a7470u + part.draw}};
  const r123::Philox4x32::key_type key = {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  const auto mixed = r123::Philox4x32()(counter, key);
  return {{mixed[0], mixed[1]}};
}

// Four random words: block number `block` of the stream (key, sweep, index).
ZTP_DEVICE inline std::array<std::uint32_t, 4> random_block(StreamKey key, std::uint32_t sweep, std::uint64_t index,
                                                            std::uint32_t block) {
  const r123::Philox4x32::ctr_type counter = {
      {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), sweep, block}};
  const r123::Philox4x32::key_type philox_key = {{key.word[0], key.word[1]}};
  const auto words = r123::Philox4x32()(counter, philox_key);
  return {words[0], words[1], words[2], words[3]};
}

// In the open interval (0, 1): 2^52 equally spaced values, the smallest 2^-53.
ZTP_DEVICE inline double to_uniform(std::uint64_t bits) {
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

// One stream, read in order.
class Stream {
 public:
  ZTP_DEVICE Stream(StreamKey key, std::uint32_t sweep, std::uint64_t index)
      : key_(key), sweep_(sweep), index_(index) {}

  ZTP_DEVICE std::uint32_t sweep() const { return sweep_; }

  ZTP_DEVICE std::uint32_t bits32() {
    if (used_ == 4) {
      words_ = random_block(key_, sweep_, index_, block_++);
      used_ = 0;
    }
    return words_[used_++];
  }
  ZTP_DEVICE std::uint64_t bits64() {
    const std::uint64_t low = bits32();
    return low | (static_cast<std::uint64_t>(bits32()) << 32);
  }
  ZTP_DEVICE double uniform() { return to_uniform(bits64()); }
  // As if that many numbers had been read already.
  ZTP_DEVICE void skip_uniforms(std::uint32_t count) {
    block_ = count / 2;
    used_ = 4;
    if (count % 2 == 1) bits64();
  }
  // In 0..bound-1, without bias (Lemire 2019).
  ZTP_DEVICE std::uint64_t below(std::uint64_t bound) {
    uint128 product = static_cast<uint128>(bits64()) * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      const std::uint64_t threshold = -bound % bound;
      while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<uint128>(bits64()) * bound;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

 private:
  StreamKey key_;
  std::uint32_t sweep_;
  std::uint64_t index_;
  std::uint32_t block_ = 0;
  unsigned used_ = 4;
  std::array<std::uint32_t, 4> words_{};
};

// The streams of one family in one sweep: what a draw of many values is given.
struct Streams {
  StreamKey key;
  std::uint32_t t;
  ZTP_DEVICE Stream at(std::uint64_t index) const { return Stream(key, t, index); }
};

}  // namespace ztp
