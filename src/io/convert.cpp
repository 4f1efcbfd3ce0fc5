#include "ztp/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>

#include "base/errors.hpp"
#include "io/assemble.hpp"
#include "io/text_cells.hpp"
#include "tensor/tensor_writer.hpp"
#include "ztp/tensor_file.hpp"

namespace ztp {
namespace {

namespace fs = std::filesystem;

struct Stopped {};

// Reads all cells into buckets, then sorts and writes one bucket after the other.
class Converter {
 public:
  Converter(const ReadOptions& options, const std::string& out, const ConvertOptions& settings,
            const ConvertProgress& progress, const std::function<bool()>& stop)
      : options_(options), out_(out), settings_(settings), progress_(progress), stop_(stop), pool_(options.threads) {}

  ConvertSummary run();

 private:
  std::unique_ptr<CellBuckets> apply_labels(TextCells cells, const BucketSort& sort) const;
  void report(const std::string& what, double part) const {
    if (stop_ && stop_()) throw Stopped();
    if (progress_) progress_(what, part);
  }

  const ReadOptions& options_;
  const std::string& out_;
  const ConvertOptions& settings_;
  const ConvertProgress& progress_;
  const std::function<bool()>& stop_;
  Pool pool_;
};

ConvertSummary Converter::run() {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const SortSettings settings{fs::path(out_).parent_path().string(), settings_.memory, options_.counts};
  Dataset data;
  TextCells cells = read_text_cells(options_, settings, pool_, data, [&](std::uint64_t read) {
    report(fmt::format("reading, {} million cells", read / 1000000), unknown);
  });
  const std::vector<Mode>& modes = data.tensor.modes;
  BucketSort sort(CellOrder::shuffled(modes.size()), settings, pool_);
  const std::unique_ptr<CellBuckets> buckets = apply_labels(std::move(cells), sort);
  TensorWriter writer(out_, modes, options_.counts, settings_.ones_per_block);
  const auto write = [&](const SortedCells& sorted) {
    const std::size_t width = 2 + modes.size();  // the hash, and then the cell
    for (std::size_t i = 0; i * width < sorted.records.size(); ++i)
      writer.add(sorted.records.data() + i * width + 2, options_.counts ? sorted.counts[i] : 1);
  };
  sort.sort(*buckets, write, [&](double part) { report("sorting", part); });
  report("finishing", unknown);
  writer.commit();
  ConvertSummary summary;
  summary.lines = data.lines;
  summary.zeros = data.zeros;
  summary.notes = std::move(data.notes);
  summary.warnings = std::move(data.warnings);
  summary.ones = writer.ones();
  summary.total_count = writer.total_count();
  summary.duplicates = summary.lines - summary.ones;
  summary.blocks = writer.blocks();
  summary.bytes = writer.bytes();
  summary.fingerprint = writer.fingerprint();
  for (const Mode& mode : modes) summary.modes.emplace_back(mode.name, mode.labels.size());
  for (std::string& warning : cell_warnings({options_.file, options_.counts}, summary.duplicates, summary.zeros))
    summary.warnings.push_back(std::move(warning));
  return summary;
}

// New ids have other hashes, so all cells are distributed to buckets again.
std::unique_ptr<CellBuckets> Converter::apply_labels(TextCells cells, const BucketSort& sort) const {
  const auto stays = [](const IdMap& map) { return map.empty(); };
  if (std::all_of(cells.new_ids.begin(), cells.new_ids.end(), stays)) return std::move(cells.buckets);
  std::unique_ptr<CellBuckets> renumbered = sort.new_buckets();
  move_cells(*cells.buckets, cells.new_ids, *renumbered, [&](double part) { report("applying labels", part); });
  return renumbered;
}

void check_request(const ReadOptions& options, const std::string& out, bool force) {
  if (!options.networks.empty() || !options.missing.empty() || !options.missing_slices.empty() ||
      !options.missing_pairs.empty())
    throw usage_error("networks and missing cells are not converted; give them to 'ztp fit'");
  if (TensorFile::recognises(options.file))
    throw config_error("{}: this file was already made by 'ztp convert'; use it as it is", options.file);
  std::error_code no_access;
  const fs::file_status status = fs::status(out, no_access);
  if (!fs::exists(status)) return;
  if (!fs::is_regular_file(status)) throw config_error("{}: exists and is not a file", out);
  if (!force) throw config_error("{}: exists; --force replaces it", out);
}

}  // namespace

ConvertSummary convert(const ReadOptions& options, const std::string& out, const ConvertOptions& convert_options,
                       const ConvertProgress& progress, const std::function<bool()>& stop) {
  check_request(options, out, convert_options.force);
  try {
    return Converter(options, out, convert_options, progress, stop).run();
  } catch (const Stopped&) {
    ConvertSummary summary;
    summary.stopped = true;
    return summary;
  }
}

}  // namespace ztp
