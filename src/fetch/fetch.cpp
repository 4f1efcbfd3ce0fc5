#include "fetch/fetch.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "fetch/data_sets.hpp"
#include "fetch/digest.hpp"
#include "fetch/download.hpp"
#include "fetch/folder.hpp"
#include "fetch/unpack.hpp"
#include "ztp/error.hpp"
#include "ztp/version.hpp"

namespace ztp {
namespace {

const DataSet& find_data_set(const std::string& name) {
  std::string names;
  for (const DataSet& set : data_sets()) {
    if (set.info.name == name) return set;
    names += (names.empty() ? "" : ", ") + set.info.name;
  }
  throw Error(ErrorKind::usage, fmt::format("there is no data set \"{}\"; there are {}", name, names));
}

// The checksum in a file such as md5sum and md5 write: 32 hexadecimal digits among other words.
std::string md5_in(const std::string& text, const std::string& url) {
  const std::string digits = "0123456789abcdefABCDEF";
  for (std::size_t begin = text.find_first_of(digits); begin != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_not_of(digits, begin), text.size());
    if (end - begin == 32) {
      std::string sum = text.substr(begin, 32);
      std::transform(sum.begin(), sum.end(), sum.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      return sum;
    }
    begin = text.find_first_of(digits, end);
  }
  throw Error(ErrorKind::input, fmt::format("{}: there is no MD5 checksum in it; use a mirror with --from URL", url));
}

class Downloader {
 public:
  Downloader(std::string base, unsigned timeout, const FetchProgress& progress, const std::function<bool()>& stop)
      : base_(std::move(base)), timeout_(timeout), progress_(progress), stop_(stop) {
    if (!base_.ends_with('/')) base_ += '/';
    check_address(base_);
  }

  // The file, and what is known of it; an error unless it has the checksum that is published, where one is.
  Source get(const SourceFile& file, FetchedFile& known) const {
    Source source{base_ + file.name, get_bytes(file.name, max_download_bytes)};
    known = {.url = source.url, .bytes = source.bytes.size(), .sha256 = sha256_of(source.bytes), .published = {}};
    if (file.checksum == Published::nothing) return source;
    constexpr std::size_t max_checksum_file = 1 << 16;
    const std::string beside = file.name + ".md5";
    const std::string published = md5_in(get_bytes(beside, max_checksum_file), base_ + beside);
    const std::string computed = md5_of(source.bytes);
    if (published != computed)
      throw Error(
          ErrorKind::input,
          fmt::format("{}: wrong checksum: MD5 {} where {} is published; run the command again, or use a mirror "
                      "with --from URL",
                      source.url, computed, published));
    known.published = "md5 " + published;
    return source;
  }

 private:
  std::string get_bytes(const std::string& name, std::size_t max_bytes) const {
    const auto tell = [&](std::uint64_t bytes, std::uint64_t total) {
      if (progress_) progress_(name, bytes, total);
    };
    return download(base_ + name, {.max_bytes = max_bytes, .timeout = timeout_}, tell, stop_);
  }

  std::string base_;
  unsigned timeout_;
  const FetchProgress& progress_;
  const std::function<bool()>& stop_;
};

std::string readme_of(const DataSet& set, const FetchSummary& summary, const std::string& date) {
  std::string text = fmt::format("# {}\n\n{}{}.\n\n| mode | size |\n|---|---|\n", set.info.name,
                                 static_cast<char>(std::toupper(static_cast<unsigned char>(set.info.about[0]))),
                                 set.info.about.substr(1));
  for (const auto& [name, size] : summary.modes) text += fmt::format("| {} | {} |\n", name, size);
  text += fmt::format("\n{} ones", summary.ones);
  if (summary.edges > 0) text += fmt::format(", {} edges", summary.edges);
  text += fmt::format(". Made by `{} {}` (ztp {}) on {}.\n\n## Source\n", folder_maker, set.info.name, version(), date);
  for (const FetchedFile& source : summary.sources)
    text += fmt::format("- {} ({} bytes), SHA-256 {}, {}\n", source.url, source.bytes, source.sha256,
                        source.published.empty() ? "no published checksum to compare with"
                                                 : "agrees with the published " + source.published);
  text += fmt::format("\n## Transformation\n{}\n", set.transformation);
  for (const std::string& note : summary.notes) text += fmt::format("Note: {}.\n", note);
  return text + fmt::format("\n## Terms\n{}\n", set.info.terms);
}

std::string record_of(const DataSet& set, const FetchSummary& summary, const std::string& date) {
  nlohmann::ordered_json record = {
      {"made_by", folder_maker}, {"name", set.info.name}, {"version", version()}, {"date", date}};
  for (const FetchedFile& source : summary.sources)
    record["sources"].push_back(
        {{"url", source.url}, {"bytes", source.bytes}, {"sha256", source.sha256}, {"published", source.published}});
  for (const auto& [name, size] : summary.modes) record["modes"].push_back({{"name", name}, {"size", size}});
  record["ones"] = summary.ones;
  record["edges"] = summary.edges;
  record["notes"] = summary.notes;
  record["files"] = summary.files;
  return record.dump(2) + "\n";
}

void write_folder(DataFolder& folder, const DataSet& set, Converted converted, FetchSummary& summary) {
  const std::string date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
  summary.modes = converted.modes;
  summary.ones = converted.ones;
  summary.edges = converted.edges;
  summary.notes = converted.notes;
  std::vector<std::pair<std::string, std::string>> files;
  for (OutputFile& file : converted.files)
    files.emplace_back(file.name, file.name.ends_with(".gz") ? gzip_of(file.text) : std::move(file.text));
  files.emplace_back("README.md", readme_of(set, summary, date));
  files.emplace_back("TERMS.txt", set.info.terms + "\n");
  for (const auto& [name, bytes] : files) summary.files.push_back(name);
  files.emplace_back(folder_record, record_of(set, summary, date));
  summary.files.push_back(folder_record);
  folder.write(files);
}

}  // namespace

FetchSummary fetch(const std::string& name, const FetchOptions& options, const FetchProgress& progress,
                   const std::function<bool()>& stop) {
  const DataSet& set = find_data_set(name);
  const Downloader downloader(options.from.empty() ? set.info.home : options.from, options.timeout, progress, stop);
  DataFolder folder(options.out, options.force);
  FetchSummary summary;
  const auto stopped = [&] { return stop && stop(); };
  Sources sources;
  try {
    for (const SourceFile& file : set.files) sources[file.name] = downloader.get(file, summary.sources.emplace_back());
  } catch (const DownloadStopped&) {
    summary.stopped = true;
  }
  if (summary.stopped || (summary.stopped = stopped())) return summary;
  Converted converted = set.convert(sources);
  if (converted.ones == 0)
    throw Error(ErrorKind::input, fmt::format("{}: there is nothing in it", summary.sources.front().url));
  if ((summary.stopped = stopped())) return summary;
  write_folder(folder, set, std::move(converted), summary);
  return summary;
}

}  // namespace ztp
