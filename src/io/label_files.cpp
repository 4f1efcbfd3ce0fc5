#include "io/label_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/errors.hpp"
#include "base/file.hpp"
#include "base/tied_modes.hpp"
#include "io/first_rows.hpp"
#include "io/flags.hpp"
#include "io/formats.hpp"
#include "io/layout.hpp"
#include "tensor/tie_modes.hpp"

namespace ztp {

namespace fs = std::filesystem;

namespace {

Error no_labels(const std::string& path) {
  return input_error("{}: no labels; write one label per line", path);
}

}  // namespace

void read_label_lines(const std::string& path, const std::function<void(std::string_view, std::size_t)>& take) {
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
    if (line.empty() || (line_number == 1 && line[0] == '#')) continue;
    take(line, line_number);
    any = true;
  }
  if (!any) throw no_labels(path);
}

namespace {

// Adds a label to a list, in which no label may be twice.
void add_once(LabelTable& labels, std::string_view label, const std::string& path, std::uint64_t line) {
  const std::uint32_t before = labels.size();
  if (labels.add(label) != before)
    throw error_at(path, {line, 1, fmt::format("label {} is listed twice; remove one of them", ztp::quoted(label))});
}

}  // namespace

LabelTable read_label_file(const std::string& path) {
  LabelTable labels;
  read_label_lines(path, [&](std::string_view label, std::size_t line) { add_once(labels, label, path, line); });
  return labels;
}

namespace {

// The lines of a list, one by one.
class EntityList {
 public:
  EntityList(const std::string& path, const std::string& mode, const ListUse& use)
      : mode_(mode), use_(use), lines_(path, 1 << 20) {
    csv_ = is_csv_name(path);
    if (csv_) lines_.keep_quoted_line_ends();
    by_ = {.separator = csv_ ? csv_separator(lines_) : '\t', .quotes = csv_};
  }
  void read() {
    std::string_view line;
    bool any = false;
    for (bool first = true; lines_.peek(line); lines_.drop()) {
      if (line.empty()) continue;
      any |= take(line, std::exchange(first, false));
    }
    if (!any) throw no_labels(lines_.name());
  }
  FileSummary summary(const std::string& purpose) const {
    return {.file = lines_.name(),
            .use = purpose,
            .format = csv_ ? FileFormat::csv : FileFormat::tsv,
            .separator = by_.separator,
            .header = header_,
            .columns = {mode_}};
  }

 private:
  // Whether the line has a label.
  bool take(std::string_view line, bool first) {
    const std::uint64_t number = lines_.dropped() + 1;
    const std::string text = csv_ ? split_fields(line, by_, number)[0].text : "";
    const std::string_view label = csv_ ? std::string_view(text) : line.substr(0, line.find('\t'));
    if (label.empty()) return false;
    if (first && is_header(label, number)) {
      header_ = true;
      return false;
    }
    if (!is_utf8(label)) throw not_utf8(label, number, 1);
    use_.take(label, number);
    return true;
  }
  bool is_header(std::string_view label, std::uint64_t line) const {
    const bool known = use_.known && use_.known(label);
    if (label[0] == '#' && known)
      throw BadLine{line, 1,
                    fmt::format("a first line that begins with # is a header, but {} is also an entity; put a header "
                                "line before it",
                                ztp::quoted(label))};
    if (label[0] == '#') return line == 1;
    return csv_ && !known && (to_lower(label) == to_lower(mode_) || is_common_column_name(label));
  }

  const std::string& mode_;
  const ListUse& use_;
  LineBlocks lines_;
  Separation by_;
  bool csv_ = false, header_ = false;
};

}  // namespace

FileSummary read_entity_list(const std::string& path, const std::string& mode, const std::string& purpose,
                             const ListUse& use) {
  EntityList list(path, mode, use);
  try {
    list.read();
  } catch (const BadLine& bad) {
    throw error_at(path, bad);
  }
  return list.summary(purpose);
}

namespace {

LabelList read_labels(const std::string& path, const std::string& mode) {
  LabelList list{{}, mode, {}};
  const auto take = [&](std::string_view label, std::uint64_t line) { add_once(list.labels, label, path, line); };
  list.file = read_entity_list(path, mode, "labels", {take});
  return list;
}

}  // namespace

LabelLists read_label_files(const std::vector<std::string>& given) {
  LabelLists lists;
  for (const std::string& item : given) {
    std::error_code no_access;
    if (fs::is_directory(item, no_access)) {
      std::vector<fs::path> paths;
      for (const auto& entry : fs::directory_iterator(item))
        if (entry.path().extension() == ".txt") paths.push_back(entry.path());
      std::sort(paths.begin(), paths.end());
      for (const fs::path& path : paths) lists.push_back(read_labels(path.string(), path.stem().string()));
      if (paths.empty()) throw input_error("--labels {}: the directory has no MODE.txt file", item);
    } else {
      if (item.find('=') == item.npos && !fs::exists(item, no_access))
        throw io_error("--labels {}: there is no such directory; give a directory or MODE=FILE", item);
      const auto [mode, file] = split_assignment(item, "--labels");
      lists.push_back(read_labels(file, mode));
    }
  }
  return lists;
}

namespace {

// Adds the labels of a file, which `label_of` gives, to those of a list, unless they are there. Returns their ids.
template <class LabelOf>
std::vector<std::uint32_t> complete_list(LabelList& list, std::size_t found, const LabelOf& label_of,
                                         const std::string& file, std::vector<std::string>& notes) {
  const std::uint32_t listed = list.labels.size();
  std::vector<std::uint32_t> ids(found);
  for (std::size_t i = 0; i < found; ++i) ids[i] = list.labels.add(label_of(i));
  const std::size_t unlisted = list.labels.size() - listed, with_ones = found - unlisted;
  const std::string& path = list.file.file;
  if (with_ones == 0 && found > 0)
    throw input_error(
        "{}: none of the {} that {} has in mode {} is listed, such as {}; is it the right list, and the right mode?",
        path, entities_text(found), file, list.mode, ztp::quoted(label_of(0)));
  if (listed > with_ones)
    notes.push_back(
        fmt::format("{}: adds {} without ones to mode {}", path, entities_text(listed - with_ones), list.mode));
  if (unlisted > 0)
    notes.push_back(fmt::format("{}: does not list {} that {} has in mode {}; {} after the listed ones", path,
                                entities_text(unlisted), file, list.mode, unlisted == 1 ? "it comes" : "they come"));
  return ids;
}

}  // namespace

NewIds apply_label_lists(LabelLists lists, std::vector<Mode>& modes, const UsedIds& used_ids, const std::string& file,
                         std::vector<std::string>& notes) {
  NewIds new_ids(modes.size());
  for (LabelList& list : lists) {
    const std::size_t k = mode_of_flag(modes, list.mode, fmt::format("--labels {}=...", list.mode));
    LabelTable& found = modes[k].labels;
    // A numbered mode has an id for every number up to the largest, but only those that occur are entities.
    const bool numbered = found.is_numbered();
    std::vector<std::uint32_t> used = numbered ? used_ids(k) : std::vector<std::uint32_t>();
    std::string scratch;
    const auto label_of = [&](std::size_t i) {
      return found.name(numbered ? used[i] : static_cast<std::uint32_t>(i), scratch);
    };
    std::vector<std::uint32_t> ids = complete_list(list, numbered ? used.size() : found.size(), label_of, file, notes);
    if (!new_ids[k].empty())  // a second list for the same mode
      new_ids[k].compose(ids);
    else
      new_ids[k] = numbered ? IdMap(std::move(used), std::move(ids), found.size()) : IdMap(std::move(ids));
    found = std::move(list.labels);
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
