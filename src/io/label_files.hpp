// Files that list the entities of a mode, one per line; and renumbering a tensor that was read without them.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/id_map.hpp"
#include "ztp/labels.hpp"

namespace ztp {

// One label per line: the first column of a line with TABs. A first line that begins with # is a header.
LabelTable read_label_file(const std::string& path);
// Calls take(label, line number) for each line, and take_header for the header, if there is one.
void read_label_lines(const std::string& path,
                      const std::function<void(std::string_view label, std::size_t line)>& take,
                      const std::function<void(std::string_view header)>& take_header = {});

// The lists given with --labels, by mode name: "MODE=FILE", or a directory that holds MODE.txt for each mode.
using LabelLists = std::vector<std::pair<std::string, LabelTable>>;
LabelLists read_label_files(const std::vector<std::string>& given);

using NewIds = std::vector<IdMap>;  // for each mode; empty if ids stay
using UsedIds =
    std::function<std::vector<std::uint32_t>(std::size_t mode)>;  // those of a numbered mode that occur, sorted
// Replaces the labels found in the file by the full lists. Returns the map of the ids.
NewIds apply_label_lists(LabelLists lists, std::vector<Mode>& modes, const UsedIds& used_ids, const std::string& file);
// Gives tied modes the labels of both, and adds what that changes to the map of the ids. Whether it changed any.
bool tie_labels(const std::vector<std::string>& tie, std::vector<Mode>& modes, NewIds& new_ids);
void renumber(std::uint32_t* coords, std::size_t cells, const NewIds& new_ids);

}  // namespace ztp
