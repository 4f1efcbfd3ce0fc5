// What a run is asked, on a GPU and on the CPU with all threads: rates of cells, as predict and evaluate need them,
// with their way to the host; and scores of all entities of a mode for many queries, as a ranking needs them. Draws are
// random numbers in the shape of FB15k-237, and are where they are computed with.
#include <algorithm>
#include <cmath>

#include "base/pool.hpp"
#include "kernel/candidates.hpp"
#include "kernel/cuda/cuda_kernel.hpp"
#include "suite.hpp"

namespace ztp::bench {
namespace {

constexpr std::uint32_t entities = 14505, relations = 237;

struct Shape {
  std::string name;
  FactorLayout layout;
  std::size_t queries;  // of a ranking on the CPU: as many as take about a second; a GPU has all
};

std::uint32_t random_below(std::uint64_t number, std::uint32_t limit) {
  return static_cast<std::uint32_t>(
      (std::uint64_t{random_block(stream_key(1, 0, Purpose::simulate), 0, number, 0)[0]} * limit) >> 32);
}

// Both entities share a matrix; each component belongs to a relation.
FactorLayout shared_columns(std::uint32_t P, std::uint32_t R) {
  std::vector<std::vector<std::uint32_t>> column(3);
  for (std::uint32_t r = 0; r < R; ++r) {
    column[0].push_back(random_below(2 * r, P));
    column[1].push_back(random_below(2 * r + 1, P));
    column[2].push_back(r % relations);
  }
  FactorLayout layout({0, 0, 1}, {{entities, P}, {relations, relations}}, R, column);
  layout.make_one_hot(2);
  return layout;
}

State random_draw(const FactorLayout& layout, Kernel& kernel) {
  State state = make_state(layout, {}, {}, kernel);
  for (std::size_t f = 0; f < layout.matrices(); ++f)
    write_rows(*state.factors[f], [&](std::size_t j, float* row) {
      const std::size_t columns = layout.size(f).columns;
      for (std::size_t q = 0; q < columns; ++q)
        row[q] = layout.is_one_hot(f) ? (q == j ? static_cast<float>(columns) : 0.0f)
                                      : static_cast<float>(random_below(j * columns + q, 1000)) * 1e-3f;
    });
  for (double& value : state.tensor.log_weight) value = -1;
  return state;
}

std::vector<std::uint32_t> random_cells(const FactorLayout& layout, std::size_t count, std::size_t without) {
  std::vector<std::uint32_t> cells;
  for (std::size_t e = 0; e < count; ++e)
    for (std::size_t k = 0; k < layout.modes(); ++k)
      if (k != without)
        cells.push_back(random_below(e * layout.modes() + k, static_cast<std::uint32_t>(layout.size_of_mode(k).rows)));
  return cells;
}

// Seconds of a draw, by so many cells.
Times time_cells(const Shape& shape, Kernel& kernel, std::size_t count, const Effort& effort) {
  const State draw = random_draw(shape.layout, kernel);
  const Rates rates = tensor_rates(draw);
  const std::vector<std::uint32_t> cells = random_cells(shape.layout, count, shape.layout.modes());
  const auto ones = kernel.upload({.coords = cells.data(), .count = count}, shape.layout);
  std::vector<double> z(count);
  return time_sweeps({[&] { kernel.score(*ones, rates, z.data()); }}, effort).front();
}

Times time_ranking(const Shape& shape, Kernel& kernel, std::size_t queries, const Effort& effort) {
  const State draw = random_draw(shape.layout, kernel);
  const std::vector<std::uint32_t> others = random_cells(shape.layout, queries, 0);
  const std::vector<std::size_t> begin(queries + 1, 0);
  ChainDraws many;  // a chain ends where a run of the body does: then the CPU has added up all it has
  for (std::size_t end = 4; end <= 40000; end += 4) many.end.push_back(end);
  const auto ranking = kernel.candidates(shape.layout, {0, queries, std::size_t{1} << 28, many});
  const std::size_t count = std::min(queries, ranking->most_queries());
  ranking->begin({0, count, others.data(), {begin.data(), nullptr}, {begin.data(), nullptr}});
  const auto draws = [&] {
    for (int i = 0; i < 4; ++i) ranking->add(draw);
    ranking->scores(0);  // waits for them
  };
  return scaled(time_sweeps({draws}, effort).front(), 1.0 / 4 / static_cast<double>(count));
}

}  // namespace

void bench_cuda_answers(Suite& suite) {
  const std::vector<Shape> shapes = {{"CP", FactorLayout::cp({entities, entities, relations}, 200), 2048},
                                     {"shared columns", shared_columns(1600, 40000), 512}};
  Pool pool(suite.options.threads);
  const auto cpu = make_kernel(KernelName::cpu, pool), gpu = make_kernel(KernelName::cuda, pool);
  const Effort effort{3, 0.05};
  for (const Shape& shape : shapes) {
    const Times cells_cpu = time_cells(shape, *cpu, 1 << 16, effort);
    const Times cells_gpu = time_cells(shape, *gpu, 1 << 22, effort);
    const Times ranked_cpu = time_ranking(shape, *cpu, shape.queries, effort),
                ranked_gpu = time_ranking(shape, *gpu, 20000, effort);
    suite.report.add({{"draws", shape.name}, {"columns", shape.layout.size(0).columns}},
                     {figure("million cells per s", rate(std::pow(2.0, 22) / 1e6, cells_gpu)),
                      figure("CPU, million cells per s", rate(std::pow(2.0, 16) / 1e6, cells_cpu)),
                      figure("million candidates per s", rate(entities / 1e6, ranked_gpu)),
                      figure("CPU, million candidates per s", rate(entities / 1e6, ranked_cpu))});
  }
}

}  // namespace ztp::bench
