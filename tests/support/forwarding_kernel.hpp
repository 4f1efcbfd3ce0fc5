// A kernel that leaves everything to another one. Those derived from it change, or write down, what a test is about.
#pragma once
#include <vector>

#include "kernel/kernel.hpp"

namespace ztp::test {

class ForwardingKernel : public Kernel {
 public:
  explicit ForwardingKernel(Kernel& real) : real_(real) {}

  std::unique_ptr<Factors> factors(std::size_t rows, std::size_t columns, RowPlace place) override {
    return real_.factors(rows, columns, place);
  }
  std::unique_ptr<Counts> counts(std::size_t rows, std::size_t columns, bool wide, RowPlace place) override {
    return real_.counts(rows, columns, wide, place);
  }
  std::unique_ptr<Ones> upload(const HostCells& cells, const FactorLayout& layout) override {
    return real_.upload(cells, layout);
  }
  void reserve(std::size_t ones) override { real_.reserve(ones); }

  ExactSum allocate(const Ones& ones, const Rates& rates, StreamKey key, const DrawSettings& settings,
                  const CountSums& sums) override {
    return real_.allocate(ones, rates, key, settings, sums);
  }
  void allocate_at_random(const Ones& ones, StreamKey key, const CountSums& sums) override {
    real_.allocate_at_random(ones, key, sums);
  }

  double smallest_shape() const override { return real_.smallest_shape(); }
  void draw_gammas(const Columns& columns, StreamKey key, std::uint32_t t, Factors& u) override {
    real_.draw_gammas(columns, key, t, u);
  }
  std::vector<double> sum_columns(const Columns& columns, const Factors& u) override {
    return real_.sum_columns(columns, u);
  }
  void scale_columns(const Columns& columns, const std::vector<float>& factor, Factors& u) override {
    real_.scale_columns(columns, factor, u);
  }
  std::vector<double> draw_in_logs(const Columns& columns, const std::vector<std::size_t>& which,
                                   const std::vector<double>& log_rest, StreamKey key, std::uint32_t t,
                                   Factors& u) override {
    return real_.draw_in_logs(columns, which, log_rest, key, t, u);
  }
  std::vector<std::int64_t> sum_counts(const Columns& columns) override { return real_.sum_counts(columns); }
  void mean_columns(const Columns& columns, const std::vector<float>& factor, Factors& u) override {
    real_.mean_columns(columns, factor, u);
  }

  double impute_diagonal(const Factors& u, const std::vector<double>& log_beta, StreamKey key,
                         const DrawSettings& settings, Counts& S, std::int64_t* totals) override {
    return real_.impute_diagonal(u, log_beta, key, settings, S, totals);
  }
  std::vector<double> column_mass(const Factors& u, RowMask rows) override { return real_.column_mass(u, rows); }
  void place(const Factors& u, RowMask rows, const std::vector<std::int64_t>& totals, const Streams& streams,
             std::int64_t unit, Counts& S) override {
    real_.place(u, rows, totals, streams, unit, S);
  }
  void spread(const Factors& u, RowMask rows, int power, const std::vector<double>& factor, Counts& S) override {
    real_.spread(u, rows, power, factor, S);
  }

  void shift(int bits, Counts& S) override { real_.shift(bits, S); }
  void move(const Counts& towards, double part, Counts& S) override { real_.move(towards, part, S); }
  Tally tally(const Counts& S) override { return real_.tally(S); }

  void score(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* z) override {
    real_.score(coords, count, rates, z);
  }
  void score(const Ones& cells, const Rates& rates, double* z) override { real_.score(cells, rates, z); }
  void score_parts(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* parts) override {
    real_.score_parts(coords, count, rates, parts);
  }
  std::unique_ptr<CandidateRanking> candidates(const FactorLayout& layout, const CandidateSettings& settings) override {
    return real_.candidates(layout, settings);
  }

 protected:
  Kernel& real_;
};

}  // namespace ztp::test
