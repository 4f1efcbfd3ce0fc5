#include "suite.hpp"

#include <algorithm>
#include <filesystem>

#include "ztp/read.hpp"
#include "ztp/simulate.hpp"

namespace ztp::bench {
namespace {

SparseTensor read(const std::string& file, unsigned threads) {
  ReadOptions options;
  options.file = file;
  options.threads = threads;
  return read_dataset(options).tensor;
}

}  // namespace

SparseTensor simulated(std::vector<std::uint64_t> dims, std::uint64_t ones, std::size_t rank) {
  SimulateOptions options;
  options.dims = std::move(dims);
  options.ones = ones;
  options.rank = rank;
  return std::move(simulate(options).tensor);
}

void Suite::make_subjects() {
  if (!options.tensor.empty()) {
    const std::string name = std::filesystem::path(options.tensor).filename().string();
    subjects_.push_back({name, read(options.tensor, options.threads)});
    return;
  }
  if (options.quick) {
    subjects_.push_back({"small", simulated({1000, 1000, 50}, 10000, 10)});
    no_scholars_ = "not in a quick run";
    return;
  }
  subjects_.push_back({facebook_shape, simulated({63731, 63730, 1837}, 737498, 50)});
  const std::string file = options.data + "/scholars/tensor.tsv.gz";
  if (options.data.empty())
    no_scholars_ = "no directory of data (--data or ZTP_DATA)";
  else if (!std::filesystem::exists(file))
    no_scholars_ = "there is no " + file;
  else
    subjects_.push_back({scholars, read(file, options.threads)});
}

const std::vector<Subject>& Suite::subjects() {
  if (subjects_.empty()) make_subjects();
  if (!no_scholars_.empty()) report.skip(scholars, no_scholars_);
  return subjects_;
}

const Subject& Suite::first_subject() {
  if (subjects_.empty()) make_subjects();
  return subjects_.front();
}

std::vector<unsigned> Suite::thread_counts() const {
  std::vector<unsigned> counts;
  for (unsigned threads = 1; threads < options.threads; threads *= 2) counts.push_back(threads);
  counts.push_back(options.threads);
  return counts;
}

std::vector<unsigned> Suite::few_thread_counts() const {
  if (options.threads <= 2) return {options.threads};
  return {2, options.threads};
}

}  // namespace ztp::bench
