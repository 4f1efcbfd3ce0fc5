#include "io/write_cells.hpp"

#include "io/text_writer.hpp"

namespace ztp {
namespace {

void write_header(TextWriter& file, const std::vector<Mode>& modes, const char* last) {
  for (std::size_t k = 0; k < modes.size(); ++k) {
    file.put(k == 0 ? '#' : '\t');
    file.write(modes[k].name);
  }
  file.write(last);
  file.put('\n');
}

void write_cell(TextWriter& file, const std::vector<Mode>& modes, const std::uint32_t* cell, std::string& scratch) {
  for (std::size_t k = 0; k < modes.size(); ++k) {
    if (k > 0) file.put('\t');
    const LabelTable& labels = modes[k].labels;
    if (labels.is_numbered())
      file.number(std::uint64_t{labels.first_number()} + cell[k]);
    else
      file.write(labels.name(cell[k], scratch));
  }
}

}  // namespace

void write_label_file(const std::string& path, const LabelTable& labels, std::uint32_t first) {
  TextWriter file(path);
  std::string scratch;
  const std::string_view start = first < labels.size() ? labels.name(first, scratch) : std::string_view();
  if (start.starts_with('#') || start.starts_with("\xef\xbb\xbf")) file.write("#label\n");
  for (std::uint32_t j = first; j < labels.size(); ++j) {
    const std::string_view label = labels.name(j, scratch);
    file.write(label);
    file.put('\n');
  }
  file.commit();
}

void write_ones_file(const std::string& path, const std::vector<Mode>& modes, const Buffer<std::uint32_t>& coords,
                     const Buffer<std::int64_t>& counts) {
  TextWriter file(path);
  write_header(file, modes, counts.empty() ? "" : "\tcount");
  std::string scratch;
  for (std::size_t e = 0; e * modes.size() < coords.size(); ++e) {
    write_cell(file, modes, coords.data() + e * modes.size(), scratch);
    if (!counts.empty()) {
      file.put('\t');
      file.number(static_cast<std::uint64_t>(counts[e]));
    }
    file.put('\n');
  }
  file.commit();
}

void write_test_file(const std::string& path, const std::vector<Mode>& modes, const TestCells& cells) {
  TextWriter file(path);
  write_header(file, modes, "\toutcome");
  std::string scratch;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    write_cell(file, modes, cells.coords.data() + i * modes.size(), scratch);
    file.write(cells.outcome[i] != 0 ? "\t1\n" : "\t0\n");
  }
  file.commit();
}

}  // namespace ztp
