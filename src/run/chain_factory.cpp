#include "run/chain_factory.hpp"

#include <algorithm>

#include "kernel/cuda/cuda_kernel.hpp"
#include "kernel/ranks/ranks_kernel.hpp"
#include "run/cost.hpp"
#include "run/file_minibatches.hpp"
#include "run/prepare.hpp"
#include "run/rank_cost.hpp"
#include "sampler/batch_chain.hpp"
#include "sampler/online_shared_chain.hpp"
#include "sampler/shared_chain.hpp"

namespace ztp {

DataInMinibatches OwnedMinibatches::data() const {
  DataInMinibatches data{*ones, {}, missing.get()};
  for (const auto& of_network : edges) data.edges.push_back(of_network.get());
  return data;
}

OwnedMinibatches make_minibatches(const Dataset& data, const FactorLayout& layout, std::size_t parts,
                                  std::size_t edge_parts, bool counts, Kernel& kernel) {
  const SparseTensor& tensor = data.tensor;
  OwnedMinibatches result;
  if (data.file != nullptr)
    result.ones = std::make_unique<FileMinibatches>(*data.file, data.file_ones, parts, counts, layout, kernel);
  else
    result.ones = std::make_unique<MemoryMinibatches>(tensor.coords, tensor.counts, layout, parts, kernel);
  for (const Network& network : data.networks) {
    const FactorLayout::Size& size = layout.size_of_mode(network.mode);
    result.edges.push_back(std::make_unique<MemoryMinibatches>(network.edges, std::span<const std::int64_t>(),
                                                               FactorLayout::pairs(size.rows, size.columns), edge_parts,
                                                               kernel));
  }
  if (data.missing.cells.empty()) return result;
  const std::uint64_t largest = (data.ones() + parts - 1) / std::max<std::size_t>(parts, 1);
  const std::size_t cells = data.missing.cells.size() / tensor.order();
  const std::size_t each = missing_in_minibatch(static_cast<std::size_t>(largest));
  result.missing =
      std::make_unique<MemoryMinibatches>(data.missing.cells, std::span<const std::int64_t>(), layout,
                                          minibatch_count(cells, static_cast<std::int64_t>(each)), kernel, true);
  return result;
}

std::size_t missing_in_minibatch(std::size_t ones) {
  return std::clamp<std::size_t>(ones, 1, FileMinibatches::usual_chunk);
}

std::size_t minibatch_count(std::uint64_t ones, std::int64_t wanted) {
  const std::uint64_t each = static_cast<std::uint64_t>(wanted);
  return static_cast<std::size_t>((ones + each - 1) / each);
}

namespace {

std::unique_ptr<Kernel> kernel_of(const FitOptions& complete, const Dataset& data, const FactorLayout& layout,
                                  Pool& pool, Comm* ranks, double& busiest) {
  if (ranks == nullptr || ranks->size() == 1) return make_kernel(complete.kernel, pool);
  const SparseTensor& tensor = data.tensor;
  Partition partition = make_partition(layout, tensor.coords.data(), tensor.nnz(), *ranks, allowed_memory(complete));
  busiest = partition.busiest();
  return make_ranks_kernel(*ranks, pool, std::move(partition),
                           complete.kernel == KernelName::cuda ? make_cuda_kernel() : nullptr);
}

}  // namespace

ChainFactory::ChainFactory(const FitOptions& complete, const Dataset& data, Pool& pool, Comm* ranks)
    : problem_(make_problem(complete, data, &pool)),
      online_(online_options(complete)),
      kernel_(kernel_of(complete, data, problem_.layout, pool, ranks, busiest_)) {
  if (complete.kernel == KernelName::cuda)
    require_gpu_memory(problem_.layout,
                       is_online(complete) ? static_cast<std::uint64_t>(complete.minibatch) : data.ones(),
                       gpu_use(complete, problem_.layout, data.tensor.nnz(), ranks == nullptr ? 1 : ranks->size()));
  if (!is_online(complete)) return;
  const std::size_t parts = minibatch_count(data.ones(), complete.minibatch);
  minibatches_ = make_minibatches(data, problem_.layout, parts, parts, has_counts(complete), *kernel_);
}

std::unique_ptr<PoissonChain> ChainFactory::make(std::uint32_t number) const {
  const bool shared = !problem_.layout.columns_are_components();
  if (!minibatches_.ones && shared) return std::make_unique<SharedChain>(problem_, *kernel_, number);
  if (!minibatches_.ones) return std::make_unique<BatchChain>(problem_, *kernel_, number);
  const DataInMinibatches data = minibatches_.data();
  if (shared) return std::make_unique<OnlineSharedChain>(problem_, online_, data, *kernel_, number);
  return std::make_unique<OnlineChain>(problem_, online_, data, *kernel_, number);
}

}  // namespace ztp
