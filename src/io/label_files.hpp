// Files that list the entities of a mode, one per line; and renumbering a tensor that was read without them.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "io/id_map.hpp"
#include "ztp/labels.hpp"
#include "ztp/read.hpp"

namespace ztp {

// The labels of a run, as it wrote them: one per line. A first line that begins with # is a header.
LabelTable read_label_file(const std::string& path);
// Calls take(label, line number) for each line.
void read_label_lines(const std::string& path,
                      const std::function<void(std::string_view label, std::size_t line)>& take);

// A list of entities as users write it, plain or compressed: the first column of a .csv, or else of columns separated
// by TAB. A first line that begins with # is a header, and in a .csv one that names the mode. Calls take for each line.
struct ListUse {
  std::function<void(std::string_view label, std::uint64_t line)> take;
  std::function<bool(std::string_view label)> known = {};  // whether a label is an entity, and so is not a header
};
FileSummary read_entity_list(const std::string& path, const std::string& mode, const std::string& purpose,
                             const ListUse& use);

// A list given with --labels: "MODE=FILE", or a directory that holds MODE.txt for each mode.
struct LabelList {
  FileSummary file;
  std::string mode;
  LabelTable labels;
};
using LabelLists = std::vector<LabelList>;
LabelLists read_label_files(const std::vector<std::string>& given);

using NewIds = std::vector<IdMap>;  // for each mode; empty if ids stay
using UsedIds =
    std::function<std::vector<std::uint32_t>(std::size_t mode)>;  // those of a numbered mode that occur, sorted
// Gives modes the labels of the lists, and then those of the file that are not listed. Returns the map of the ids, and
// tells in `notes` what was added. Error (input), if a list has none of the entities of the file.
NewIds apply_label_lists(LabelLists lists, std::vector<Mode>& modes, const UsedIds& used_ids, const std::string& file,
                         std::vector<std::string>& notes);
// Gives tied modes the labels of both, and adds what that changes to the map of the ids. Whether it changed any.
bool tie_labels(const std::vector<std::string>& tie, std::vector<Mode>& modes, NewIds& new_ids);
void renumber(std::uint32_t* coords, std::size_t cells, const NewIds& new_ids);

}  // namespace ztp
