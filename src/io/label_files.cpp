#include "io/label_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/errors.hpp"
#include "base/file.hpp"
#include "base/tied_modes.hpp"
#include "io/flags.hpp"
#include "io/lines.hpp"
#include "tensor/tie_modes.hpp"

namespace ztp {

namespace fs = std::filesystem;

void read_label_lines(const std::string& path, const std::function<void(std::string_view, std::size_t)>& take,
                      const std::function<void(std::string_view)>& take_header) {
  std::string text = read_text(path);
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  std::size_t line_number = 0;
  bool any = false;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line(text.data() + begin, end - begin);
    begin = end + 1;
    ++line_number;
    if (const std::size_t bad = find_bad_byte(line); bad != line.npos)
      throw error_at(path, bad_byte(line[bad], line_number, bad + 1));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    line = line.substr(0, line.find('\t'));
    if (line.empty()) continue;
    if (line_number == 1 && line[0] == '#') {
      if (take_header) take_header(line);
      continue;
    }
    take(line, line_number);
    any = true;
  }
  if (!any) throw input_error("{}: no labels; there must be one a line", path);
}

LabelTable read_label_file(const std::string& path) {
  LabelTable labels;
  read_label_lines(path, [&](std::string_view label, std::size_t line) {
    const std::uint32_t before = labels.size();
    if (labels.add(label) != before)
      throw error_at(path,
                     {line, 1, fmt::format("label {} is there twice; leave one of them out", ztp::quoted(label))});
  });
  return labels;
}

LabelLists read_label_files(const std::vector<std::string>& given) {
  LabelLists tables;
  for (const std::string& item : given) {
    std::error_code no_access;
    if (fs::is_directory(item, no_access)) {
      for (const auto& entry : fs::directory_iterator(item))
        if (entry.path().extension() == ".txt")
          tables.emplace_back(entry.path().stem().string(), read_label_file(entry.path().string()));
      if (tables.empty()) throw input_error("--labels {}: no MODE.txt file in there", item);
    } else {
      if (item.find('=') == item.npos && !fs::exists(item, no_access))
        throw io_error("--labels {}: there is no such directory; or give MODE=FILE", item);
      const auto [mode, file] = split_assignment(item, "--labels");
      tables.emplace_back(mode, read_label_file(file));
    }
  }
  return tables;
}

NewIds apply_label_lists(LabelLists lists, std::vector<Mode>& modes, const UsedIds& used_ids, const std::string& file) {
  NewIds new_ids(modes.size());
  for (auto& [mode_name, full] : lists) {
    const std::size_t k = mode_of_flag(modes, mode_name, fmt::format("--labels {}=...", mode_name));
    LabelTable& found = modes[k].labels;
    // A numbered mode has an id for every number up to the largest, but only those that occur must be listed.
    const bool numbered = found.is_numbered();
    std::vector<std::uint32_t> used = numbered ? used_ids(k) : std::vector<std::uint32_t>();
    std::vector<std::uint32_t> ids(numbered ? used.size() : found.size());
    std::string scratch;
    for (std::uint32_t i = 0; i < ids.size(); ++i) {
      const std::string_view label = found.name(numbered ? used[i] : i, scratch);
      const auto id = full.find(label);
      if (!id)
        throw input_error(
            "{}: {} {} is not in the list of labels given for that mode; add it to the list, or leave its lines out",
            file, mode_name, ztp::quoted(label));
      ids[i] = *id;
    }
    if (!new_ids[k].empty())  // a second list for the same mode
      new_ids[k].compose(ids);
    else
      new_ids[k] = numbered ? IdMap(std::move(used), std::move(ids), found.size()) : IdMap(std::move(ids));
    found = std::move(full);
  }
  return new_ids;
}

bool tie_labels(const std::vector<std::string>& tie, std::vector<Mode>& modes, NewIds& new_ids) {
  std::vector<std::string> names;
  for (const Mode& mode : modes) names.push_back(mode.name);
  const std::vector<std::size_t> tied = tied_modes(tie, names);
  bool changed = false;
  for (std::size_t k = 0; k < modes.size(); ++k) {
    const std::size_t l = tied[k];
    if (l <= k) continue;
    std::vector<std::uint32_t> ids = join_labels(modes[k], modes[l]);
    if (ids.empty()) continue;
    changed = true;
    if (new_ids[l].empty())
      new_ids[l] = IdMap(std::move(ids));
    else
      new_ids[l].compose(ids);
  }
  return changed;
}

void renumber(std::uint32_t* coords, std::size_t cells, const NewIds& new_ids) {
  const std::size_t K = new_ids.size();
  for (std::size_t k = 0; k < K; ++k)
    if (!new_ids[k].empty())
      for (std::size_t i = 0; i < cells; ++i) coords[i * K + k] = new_ids[k][coords[i * K + k]];
}

}  // namespace ztp
