#include "run/chain_factory.hpp"

#include "run/file_minibatches.hpp"
#include "run/prepare.hpp"
#include "sampler/chain.hpp"

namespace ztp {

std::vector<Minibatches*> OwnedMinibatches::edges_of_networks() const {
  std::vector<Minibatches*> list;
  for (const auto& of_network : edges) list.push_back(of_network.get());
  return list;
}

OwnedMinibatches make_minibatches(const Dataset& data, std::size_t parts, std::size_t edge_parts, bool counts) {
  const SparseTensor& tensor = data.tensor;
  const std::vector<std::uint32_t> sizes = tensor.sizes();
  OwnedMinibatches result;
  if (data.file != nullptr)
    result.ones = std::make_unique<FileMinibatches>(*data.file, data.file_ones, parts, counts);
  else
    result.ones = std::make_unique<MemoryMinibatches>(tensor.coords, tensor.counts, sizes, parts);
  for (const Network& network : data.networks) {
    const std::uint32_t n = sizes[network.mode];
    result.edges.push_back(std::make_unique<MemoryMinibatches>(network.edges, std::span<const std::int64_t>(),
                                                               std::vector<std::uint32_t>{n, n}, edge_parts, true));
  }
  return result;
}

std::size_t minibatch_count(std::uint64_t ones, std::int64_t wanted) {
  const std::uint64_t each = static_cast<std::uint64_t>(wanted);
  return static_cast<std::size_t>((ones + each - 1) / each);
}

ChainFactory::ChainFactory(const FitOptions& complete, const Dataset& data, Pool& pool)
    : problem_(make_problem(complete, data)),
      online_(online_options(complete)),
      kernel_(make_kernel(name_of(complete.kernel), pool)) {
  if (!is_online(complete)) return;
  const std::size_t parts = minibatch_count(data.ones(), complete.minibatch);
  minibatches_ = make_minibatches(data, parts, parts, has_counts(complete));
}

std::unique_ptr<CountChain> ChainFactory::make(std::uint32_t number) const {
  if (!minibatches_.ones) return std::make_unique<Chain>(problem_, *kernel_, number);
  return std::make_unique<OnlineChain>(
      problem_, online_, DataInMinibatches{*minibatches_.ones, minibatches_.edges_of_networks()}, *kernel_, number);
}

}  // namespace ztp
