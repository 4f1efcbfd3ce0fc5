#include "run/chains.hpp"

#include "run/file_minibatches.hpp"
#include "run/prepare.hpp"
#include "sampler/chain.hpp"

namespace ztp {

Chains::Chains(const Problem& problem, const Dataset& data, const FitOptions& options, Kernel& kernel)
    : problem_(problem), options_(options), kernel_(kernel) {
  if (options.method != "online") return;
  const std::vector<std::uint32_t> sizes = data.tensor.sizes();
  const std::uint64_t ones = data.ones(), wanted = static_cast<std::uint64_t>(options.minibatch);
  const std::size_t count = static_cast<std::size_t>((ones + wanted - 1) / wanted);
  if (data.file != nullptr)
    ones_ = std::make_unique<FileMinibatches>(*data.file, data.file_ones, count, options.likelihood == "count");
  else
    ones_ = std::make_unique<MemoryMinibatches>(data.tensor.coords, data.tensor.counts, sizes, count);
  for (const Network& network : problem.networks) {
    const std::uint32_t n = sizes[network.mode];
    edges_.push_back(std::make_unique<MemoryMinibatches>(network.edges, std::span<const std::int64_t>(),
                                                         std::vector<std::uint32_t>{n, n}, count, true));
  }
}

std::unique_ptr<CountChain> Chains::make(std::uint32_t number) const {
  if (!ones_) return std::make_unique<Chain>(problem_, kernel_, number);
  std::vector<Minibatches*> edges;
  for (const auto& of_network : edges_) edges.push_back(of_network.get());
  return std::make_unique<OnlineChain>(problem_, online_options(options_), DataInMinibatches{*ones_, edges}, kernel_,
                                       number);
}

}  // namespace ztp
