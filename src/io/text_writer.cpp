#include "io/text_writer.hpp"

#include <filesystem>
#include <system_error>

#include "base/errors.hpp"
#include "ztp/split.hpp"

namespace ztp {
namespace {

// Cells by their labels, with a last column of values if there are any.
template <class T>
void write_cells(const std::string& path, const std::vector<Mode>& modes, const Buffer<std::uint32_t>& coords,
                 const char* value_name, const Buffer<T>& values) {
  TextWriter file(path);
  for (std::size_t k = 0; k < modes.size(); ++k) {
    file.put(k == 0 ? '#' : '\t');
    file.write(modes[k].name);
  }
  file.write(value_name);
  file.put('\n');
  std::string scratch;
  for (std::size_t e = 0; e * modes.size() < coords.size(); ++e) {
    for (std::size_t k = 0; k < modes.size(); ++k) {
      const LabelTable& labels = modes[k].labels;
      const std::uint32_t id = coords[e * modes.size() + k];
      if (k > 0) file.put('\t');
      if (labels.is_numbered())
        file.number(std::uint64_t{labels.first_number()} + id);
      else
        file.write(labels.name(id, scratch));
    }
    if (!values.empty()) {
      file.put('\t');
      file.number(static_cast<std::uint64_t>(values[e]));
    }
    file.put('\n');
  }
  file.commit();
}

}  // namespace

void check_output_directory(const std::string& directory, bool force) {
  std::error_code failure;
  const std::filesystem::file_status status = std::filesystem::status(directory, failure);
  if (!std::filesystem::exists(status)) return;
  if (!std::filesystem::is_directory(status))
    throw config_error("{}: exists and is not a directory; choose another --out", directory);
  if (force) return;
  const bool empty = std::filesystem::is_empty(directory, failure);
  if (failure) throw io_error("{}: cannot be read: {}", directory, failure.message());
  if (!empty)
    throw config_error("{}: the directory is not empty; choose another, or replace its files with --force", directory);
}

void make_output_directory(const std::string& directory, bool force) {
  check_output_directory(directory, force);
  std::error_code failure;
  std::filesystem::create_directories(directory, failure);
  if (failure) throw io_error("{}: cannot be created: {}", directory, failure.message());
}

void write_label_file(const std::string& path, const LabelTable& labels, std::uint32_t first) {
  TextWriter file(path);
  std::string scratch;
  const std::string_view start = first < labels.size() ? labels.name(first, scratch) : std::string_view();
  if (start.starts_with('#') || start.starts_with("\xef\xbb\xbf")) file.write("#label\n");
  for (std::uint32_t j = first; j < labels.size(); ++j) {
    file.write(labels.name(j, scratch));
    file.put('\n');
  }
  file.commit();
}

void write_ones_file(const std::string& path, const std::vector<Mode>& modes, const Buffer<std::uint32_t>& coords,
                     const Buffer<std::int64_t>& counts) {
  write_cells(path, modes, coords, counts.empty() ? "" : "\tcount", counts);
}

void write_test_file(const std::string& path, const std::vector<Mode>& modes, const TestCells& cells) {
  if (cells.counts.empty())
    write_cells(path, modes, cells.coords, "\toutcome", cells.outcome);
  else
    write_cells(path, modes, cells.coords, "\tcount", cells.counts);
}

}  // namespace ztp
