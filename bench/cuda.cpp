// Whole sweeps on a GPU, and by turns with them their two halves: the allocation of the ones, and the columns of the
// factors. "rows GB per s" counts every row of every one, wherever it came from; "columns GB per s" the counts that are
// read and the factors that are written. The copy is from memory of the GPU to its memory; "of copy" is the share of
// its bandwidth, more than one where rows come from a cache. The last rows are tensors of uniformly random ones, sorted
// by their first mode.
#include "kernel/cuda/cuda_kernel.hpp"
#include "kernel/cuda/cuda_library.hpp"
#include "kernel/draw_columns.hpp"
#include "sampling.hpp"
#include "suite.hpp"

namespace ztp::bench {
namespace {

class DeviceCopy {
 public:
  DeviceCopy() : from_(floats), to_(floats) {}
  void run() {
    cuda::check(cuda::library().api->copy(to_.data(), from_.data(), from_.bytes()) || cuda::library().api->wait(),
                "a copy");
  }
  double bytes_moved() const { return 2.0 * static_cast<double>(from_.bytes()); }

 private:
  static constexpr std::size_t floats = std::size_t{1} << 28;
  cuda::DeviceBuffer<float> from_, to_;
};

struct GpuTarget {
  std::string tensor;
  std::size_t R;
  double milliseconds;
};
const GpuTarget gpu_targets[] = {{facebook_shape, 100, 0.40}, {scholars, 100, 0.40}};

void time_on_gpu(Suite& suite, const std::string& name, const SparseTensor& tensor, std::size_t R, MaybeWanted wanted) {
  Sampling sampling(tensor, R, 1, 20, KernelName::cuda);
  BatchChain& chain = sampling.chain();
  std::vector<std::unique_ptr<Factors>> u;
  for (const auto& S : chain.statistics().rows) u.push_back(sampling.kernel().factors(S->rows(), S->columns()));
  const auto columns = [&] {
    for (std::size_t f = 0; f < u.size(); ++f)
      draw_columns(sampling.kernel(), {*chain.statistics().rows[f], chain.state().shapes.dirichlet[f]},
                   std::vector<double>(R, 0.0), stream_key(1, 0, Purpose::columns, static_cast<std::uint32_t>(f)),
                   chain.steps_done(), *u[f]);
  };
  DeviceCopy copy;
  Effort effort = suite.effort();
  effort.repeats = 5;
  const std::vector<Times> times =
      time_sweeps({[&] { chain.sweep(); }, [&] { chain.draw_counts(); }, columns, [&] { copy.run(); }}, effort);
  const Times copied = rate(copy.bytes_moved() / 1e9, times[3]);
  const Times rows = rate(sampling.bytes_of_rows() / 1e9, times[1]);
  const Times columns_moved = rate(2 * sampling.draws() * 4 / 1e9, times[2]);
  suite.report.add(
      {{"tensor", name}, {"ones", tensor.nnz()}, {"R", R}},
      {figure("ms per sweep", scaled(times[0], 1e3), wanted),
       figure("ns per one", scaled(times[1], 1e9 / sampling.ones())), figure("rows GB per s", rows),
       figure("rows of copy", ratio(rows, copied)),
       figure("ns per gamma draw", scaled(times[2], 1e9 / sampling.draws())), figure("columns GB per s", columns_moved),
       figure("columns of copy", ratio(columns_moved, copied)), figure("copy GB per s", copied)});
}

// Modes of these sizes, and so many ones, without labels.
SparseTensor random_tensor(const std::vector<std::uint32_t>& sizes, std::size_t ones, unsigned threads) {
  SparseTensor tensor;
  for (std::size_t k = 0; k < sizes.size(); ++k) tensor.modes.push_back({"mode" + std::to_string(k + 1), {}});
  for (std::size_t k = 0; k < sizes.size(); ++k) tensor.modes[k].labels = LabelTable::numbered(1, sizes[k]);
  tensor.coords.resize(ones * sizes.size());
  Pool pool(threads);
  const Blocks blocks{ones, 1 << 20};
  const StreamKey key = stream_key(1, 0, Purpose::simulate);
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    for (std::size_t e = blocks.begin(b); e < blocks.end(b); ++e) {
      const auto word = random_block(key, 0, e, 0);
      for (std::size_t k = 0; k < sizes.size(); ++k)
        tensor.coords[e * sizes.size() + k] = static_cast<std::uint32_t>(
            k == 0 ? static_cast<uint128>(e) * sizes[0] / ones : (std::uint64_t{word[k % 4]} * sizes[k]) >> 32);
    }
  });
  return tensor;
}

}  // namespace

void bench_cuda(Suite& suite) {
  if (!has_cuda()) return suite.report.skip("cuda", cuda::library().missing);
  for (const Subject& subject : suite.subjects())
    for (const std::size_t R : {std::size_t{20}, std::size_t{100}}) {
      MaybeWanted wanted;
      for (const GpuTarget& target : gpu_targets)
        if (target.tensor == subject.name && target.R == R) wanted = {Wanted::at_most, target.milliseconds};
      time_on_gpu(suite, subject.name, subject.tensor, R, wanted);
    }
  bench_cuda_answers(suite);
  if (suite.options.quick || !suite.options.tensor.empty()) return;
  for (const auto& [ones, milliseconds] : {std::pair{std::size_t{100'000'000}, 20.0}, {1'000'000'000, 300.0}})
    time_on_gpu(suite, "random", random_tensor({1'000'000, 1'000'000, 10'000}, ones, suite.options.threads), 64,
                {{Wanted::at_most, milliseconds}});
}

}  // namespace ztp::bench
