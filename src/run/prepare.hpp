// From options as given to a problem and a schedule with every default filled in.
#pragma once
#include "store/draw_layout.hpp"
#include "sampler/online_chain.hpp"
#include "sampler/run_chains.hpp"
#include "ztp/options.hpp"
#include "ztp/read.hpp"

namespace ztp {

// Fills in the sampler, threads, burn-in and the means of the beta priors, and checks everything, MODE=A of --dirichlet included.
// `ones`: how many there are, where the tensor does not hold them.
FitOptions complete_options(const FitOptions& options, const SparseTensor& tensor, std::int64_t ones);
inline FitOptions complete_options(const FitOptions& options, const SparseTensor& tensor) {
  return complete_options(options, tensor, static_cast<std::int64_t>(tensor.nnz()));
}

// What a chain samples. Refers to the data, which must outlive it.
Problem make_problem(const FitOptions& complete, const Dataset& data);
Hyperparameters hyperparameters(const FitOptions& complete, const std::vector<Mode>& modes);
OnlineOptions online_options(const FitOptions& complete);
Schedule schedule(const FitOptions& complete, const DrawLayout& layout);

}  // namespace ztp
