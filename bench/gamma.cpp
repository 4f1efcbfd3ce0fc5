// Gamma draws on one thread, against std::gamma_distribution<float>. The shapes of a sweep differ from draw to draw, so
// a distribution is made anew for each; its engine is made once.
#include <random>

#include "kernel/cpu/columns.hpp"
#include "suite.hpp"

namespace ztp::bench {
namespace {

constexpr std::size_t components = 100;

void draw_by_standard_library(const Matrix<std::int64_t>& S, double a, std::mt19937& engine, Matrix<float>& u) {
  for (std::size_t j = 0; j < S.rows(); ++j)
    for (std::size_t r = 0; r < S.columns(); ++r) {
      std::gamma_distribution<float> gamma(static_cast<float>(a + static_cast<double>(S.row(j)[r])), 1.0f);
      u.row(j)[r] = gamma(engine);
    }
}

// Counts as a sparse tensor has them: nine of ten are zero, and few are large.
Matrix<std::int64_t> mixed_counts(std::size_t rows) {
  Matrix<std::int64_t> S(rows, components);
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t r = 0; r < components; ++r) {
      Stream stream(stream_key(1, 0, Purpose::simulate), 0, j * components + r);
      if (stream.below(10) == 0) S.row(j)[r] = static_cast<std::int64_t>(1 / stream.uniform());
    }
  return S;
}

Matrix<std::int64_t> equal_counts(std::size_t rows, std::int64_t count) {
  Matrix<std::int64_t> S(rows, components);
  for (std::size_t j = 0; j < rows; ++j) std::fill(S.row(j), S.row(j) + components, count);
  return S;
}

void compare(Suite& suite, const std::string& shape, const Matrix<std::int64_t>& S, double a, MaybeWanted wanted) {
  Pool pool(1);
  HostCounts counts(S.rows(), S.columns(), false, RowPlace{});  // narrow, as a fit has them
  HostFactors u(S.rows(), S.columns(), RowPlace{});
  write_rows(counts, [&](std::size_t j, std::int64_t* row) { std::copy_n(S.row(j), S.columns(), row); });
  std::mt19937 engine(1);
  std::uint32_t sweep = 0;
  const StreamKey stream = stream_key(1, 0, Purpose::columns);
  const std::vector<Times> times = time_kernels({[&] {
                                                   cpu::draw_gammas(pool, {counts, a}, {stream, ++sweep}, u);
                                                 },
                                                 [&] { draw_by_standard_library(S, a, engine, u.values); }},
                                                suite.effort());
  const double ns = 1e9 / static_cast<double>(S.rows() * S.columns());
  suite.report.add({{"shape", shape}}, {figure("ns per draw", scaled(times[0], ns)),
                                        figure("standard library ns per draw", scaled(times[1], ns)),
                                        figure("times faster", ratio(times[1], times[0]), wanted)});
}

}  // namespace

void bench_gamma(Suite& suite) {
  const std::size_t rows = suite.options.quick ? 200 : 2000;
  MaybeWanted wanted;
  if (!suite.options.quick) wanted = {Wanted::at_least, 10};
  compare(suite, "0.1", equal_counts(rows, 0), 0.1, wanted);
  compare(suite, "1.1", equal_counts(rows, 1), 0.1, wanted);
  compare(suite, "30", equal_counts(rows, 29), 1.0, wanted);
  compare(suite, "0.1 + counts", mixed_counts(rows), 0.1, {});
}

}  // namespace ztp::bench
