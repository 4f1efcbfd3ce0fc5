#include "run/news.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "io/assemble.hpp"
#include "io/file_cells.hpp"
#include "io/flags.hpp"
#include "io/grow.hpp"
#include "io/pairs.hpp"
#include "io/read.hpp"
#include "tensor/records.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

// Takes records that are among the known ones out of `fresh` (sorted, each once). Returns how many.
template <class Known>
std::uint64_t remove_known(Buffer<std::uint32_t>& fresh, std::size_t width, const Known& known) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i * width < fresh.size(); ++i) {
    const std::uint32_t* record = fresh.data() + i * width;
    if (known(i)) continue;
    std::copy_n(record, width, fresh.data() + kept++ * width);
  }
  const std::uint64_t removed = fresh.size() / width - kept;
  fresh.resize(kept * width);
  return removed;
}

void read_new_ones(const ReadOptions& fresh, const Dataset& old, Pool& pool, NewData& news, UpdateSummary& summary) {
  if (fresh.file.empty()) return;
  SparseTensor& tensor = news.tensor;
  std::vector<Mode*> columns;
  for (Mode& mode : tensor.modes) columns.push_back(&mode);
  ReadOptions ones_alone = fresh;
  ones_alone.networks.clear();
  Dataset read = read_dataset(ones_alone);
  translate_and_grow(read.tensor.modes, columns, fresh.file, read.tensor.coords);
  tensor.coords = std::move(read.tensor.coords);
  tensor.counts = std::move(read.tensor.counts);
  tensor.sort_and_merge();
  summary.warnings = std::move(read.warnings);
  if (fresh.counts) return;  // more counts of a known cell are new data
  const std::vector<std::uint8_t> known = which_are_ones(old, tensor.coords, pool);
  summary.known_ones = remove_known(tensor.coords, tensor.order(), [&](std::size_t e) { return known[e] != 0; });
}

void read_new_edges(const ReadOptions& fresh, Dataset& old, Pool& pool, NewData& news, UpdateSummary& summary) {
  for (const Network& network : old.networks) {
    news.networks.emplace_back();
    news.networks.back().mode = network.mode;
    news.networks.back().source = network.source;
  }
  for (const std::string& item : fresh.networks) {
    const auto [name, file] = split_assignment(item, "--network");
    const Network& network = network_of_flag(name, "--network " + item, "the run was fitted without one", old);
    Buffer<std::uint32_t>& edges = news.networks[static_cast<std::size_t>(&network - old.networks.data())].edges;
    Mode& mode = news.tensor.modes[network.mode];
    TableSpec spec;
    spec.path = file;
    spec.known = &old.tensor.modes[network.mode].labels;
    Buffer<std::uint32_t> pairs;
    const std::vector<Mode> found = read_pairs(spec, pool, pairs);
    translate_and_grow(found, {&mode, &mode}, file, pairs);
    edges.append(pairs.data(), pairs.size());
    const std::uint64_t self_loops = sort_and_merge_pairs(edges).self;
    if (self_loops > 0) summary.warnings.push_back(fmt::format("{}: {} self-loops ignored", file, self_loops));
    summary.known_edges += remove_known(
        edges, 2, [&](std::size_t e) { return find_record(network.edges, 2, edges.data() + 2 * e) < network.size(); });
  }
}

// What there is of new data, over those of the run as they were.
void count_news(const NewData& news, const Dataset& old, UpdateSummary& summary) {
  summary.ones = news.tensor.nnz();
  for (const Network& network : news.networks) summary.edges += network.size();
  for (std::size_t k = 0; k < news.tensor.order(); ++k)
    summary.entities.emplace_back(news.tensor.modes[k].name,
                                  news.tensor.modes[k].labels.size() - old.tensor.modes[k].labels.size());
}

}  // namespace

NewData read_news(const std::string& run_dir, const RunInfo& before, const ReadOptions& fresh, Dataset& old,
                  UpdateSummary& summary) {
  Pool pool(fresh.threads);
  NewData news;
  news.tensor.modes = old.tensor.modes;
  read_new_ones(fresh, old, pool, news, summary);
  read_new_edges(fresh, old, pool, news, summary);
  count_news(news, old, summary);
  if (summary.ones + summary.edges == 0)
    throw Error(ErrorKind::input, fmt::format("{}: nothing in it is new to {}",
                                              fresh.file.empty() ? fresh.networks.front() : fresh.file, run_dir));
  std::int64_t total = static_cast<std::int64_t>(before.total_count);
  for (const std::int64_t count : news.tensor.counts) add_to_total(total, count, fresh.file);
  return news;
}

std::uint64_t merge(const NewData& news, Dataset& data) {
  const SparseTensor& tensor = news.tensor;
  std::uint64_t found = 0;
  const std::size_t K = tensor.order();
  data.tensor.modes = tensor.modes;
  data.tensor.coords.append(tensor.coords.data(), tensor.coords.size());
  data.tensor.counts.append(tensor.counts.data(), tensor.counts.size());
  data.tensor.sort_and_merge();
  for (std::size_t m = 0; m < data.networks.size(); ++m) {
    Network& network = data.networks[m];
    network.edges.append(news.networks[m].edges.data(), news.networks[m].edges.size());
    sort_and_merge_records(network.edges, 2);
    remove_known(network.missing, 2, [&](std::size_t i) {
      return find_record(std::as_const(network.edges), 2, network.missing.data() + 2 * i) < network.size();
    });
  }
  for (std::size_t k = 0; k < data.missing.slices.size(); ++k) {
    auto& slices = data.missing.slices[k];
    if (slices.empty()) continue;
    std::vector<std::uint8_t> met(tensor.modes[k].labels.size(), 0);
    for (std::size_t e = 0; e < tensor.nnz(); ++e) met[tensor.cell(e)[k]] = 1;
    found += std::erase_if(slices, [&](std::uint32_t j) { return met[j] != 0; });
  }
  return found + remove_known(data.missing.cells, K,
                              [&](std::size_t i) { return tensor.contains(data.missing.cells.data() + i * K); });
}

}  // namespace ztp
