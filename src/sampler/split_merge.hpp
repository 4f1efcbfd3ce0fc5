// Splits and merges of components, with u, lambda and p integrated out. Gibbs sweeps move single counts and hardly ever
// make a component or end one; these moves do it in one step, so that the number of occupied components is drawn, too.
#pragma once
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "sampler/token_counts.hpp"

namespace ztp {

// Given the latent counts, each unit of them (a token) belongs to one component, and the tokens of a component are
// independent draws of a cell from the product of its columns: a mixture. The moves are those of Jain and Neal (2004)
// for mixtures, on the tokens of the ones; counts of missing cells and of networks stay where they are.  (M22), (M23)
class SplitMerge {
 public:
  SplitMerge(const SparseTensor& tensor, std::size_t R);
  virtual ~SplitMerge() = default;

  // Proposes some moves and keeps tokens and counts in step. prior: with the g in use. Serial; looks at about half of
  // the tokens.
  void run(TokenCounts& counts, const WeightPrior& prior, Stream stream);

 protected:  // for tests that plant bugs
  // What the acceptance of a split is made of, in logs.                                                          (M23)
  struct SplitTerms {
    double ratio;       // pi(split) / pi(merged)
    double components;  // R - R': places that the new component may have
    double q;           // probability of the scan that ends in the split
    double pick;        // R' n / ((R' + 1) n_1), if the first token was picked through its component, else 1
  };
  virtual double log_acceptance(const SplitTerms& terms) const {
    return terms.ratio + terms.components - terms.q + terms.pick;
  }

 private:
  enum Side : std::uint8_t { left = 0, right = 1, joint = 2 };
  using Values = std::array<double, 3>;  // for each side

  bool products_stay_in_range(const TokenCounts& counts) const;
  void load(const Tokens& tokens);  // members_, place_ and occupied_
  std::pair<std::uint32_t, std::uint32_t> pick(Stream& stream, std::size_t tokens, bool by_component) const;
  std::size_t nth_component(std::size_t n, bool with_tokens) const;  // among those with tokens, or those without

  // One split or merge, accepted or not. `budget`: tokens it may look at, on average.                         (M23)
  void propose(TokenCounts& counts, const WeightPrior& prior, Stream& stream, double budget);
  // The steps of a proposal; t counts the tokens of both components, as they are in tokens_.
  void gather(const TokenCounts& counts, std::uint32_t i, std::uint32_t j, Stream& stream);
  void take_all_out(const TokenCounts& counts);
  void fill_factors(const TokenCounts& counts, const WeightPrior& prior);
  double predictive(std::size_t t, Side side) const;  // of token t, given those that have been put there        (M22)
  void put(std::size_t t, Side side);
  void take(std::size_t t, Side side);
  void launch(Stream& stream);
  double scan(Stream& stream, const std::vector<Side>* forced);
  double log_ratio();
  void move(TokenCounts& counts, std::uint32_t token, std::size_t to);  // when it is accepted

  std::size_t R_, K_;
  std::vector<std::vector<std::uint32_t>> members_;  // tokens of each component
  std::vector<std::uint32_t> place_;                 // of each token, within members_
  std::size_t occupied_ = 0;                         // components with tokens

  // The proposal at hand: components r_ (left) and s_ (right), or r_ alone (joint)
  std::size_t r_ = 0, s_ = 0;
  std::vector<std::uint32_t> tokens_;  // of both; the two that were picked come first
  std::vector<std::uint32_t> cells_;   // their cells, tokens x K
  std::vector<Side> side_;             // where each of them is
  std::array<std::size_t, 3> size_{};  // tokens on each side
  // [side][tokens there]: what all tokens share of the predictive probability
  std::array<std::vector<double>, 3> factor_;
  std::vector<std::vector<Values>> value_;  // [mode][row]: a + counts there, for rows of the tokens
};

}  // namespace ztp
