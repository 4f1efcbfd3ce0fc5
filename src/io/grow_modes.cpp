#include "io/grow_modes.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"
#include "base/tied_modes.hpp"
#include "io/id_map.hpp"
#include "io/lines.hpp"

namespace ztp {
namespace {

std::uint32_t grow_numbered(LabelTable& labels, std::string_view label, const std::string& file,
                            const std::string& mode) {
  const auto id = LabelTable::numbered(labels.first_number(), max_mode_size).find(label);
  if (!id)
    throw input_error("{}: {} {}: the entities of that mode must be numbers from {} on", file, mode, quoted(label),
                      labels.first_number());
  if (*id >= labels.size()) labels = LabelTable::numbered(labels.first_number(), *id + 1);
  return *id;
}

}  // namespace

namespace {

// Replaces the ids of column c of K by new_id(label).
template <class NewId>
void translate_column(const LabelTable& labels, std::size_t c, std::size_t K, Buffer<std::uint32_t>& coords,
                      const NewId& new_id_of) {
  // Of a numbered mode only the numbers that occur count.
  std::vector<std::uint32_t> used = occurring_ids(coords.data(), coords.size() / K, K, c, labels.size()), ids;
  std::string scratch;
  for (const std::uint32_t j : used) ids.push_back(new_id_of(labels.name(j, scratch)));
  const IdMap new_id(std::move(used), std::move(ids), labels.size());
  for (std::size_t i = c; i < coords.size(); i += K) coords[i] = new_id[coords[i]];
}

std::uint32_t add_label(LabelTable& labels, std::string_view label, const std::string& file, const std::string& mode) {
  return labels.is_numbered() ? grow_numbered(labels, label, file, mode) : labels.add(label);
}

}  // namespace

void translate_and_grow(const std::vector<const Mode*>& found, const std::vector<Mode*>& columns,
                        const std::string& file, Buffer<std::uint32_t>& coords) {
  const std::size_t K = columns.size();
  if (found.size() != K) throw input_error("{}: {} columns of labels; {} are needed", file, found.size(), K);
  for (std::size_t c = 0; c < K; ++c) {
    Mode& mode = *columns[c];
    if (found[c]->name != mode.name && found[c]->name != fmt::format("mode{}", c + 1))
      throw input_error("{}: column {} is called {}, but the run has {} there", file, c + 1, found[c]->name, mode.name);
    translate_column(found[c]->labels, c, K, coords,
                     [&](std::string_view label) { return add_label(mode.labels, label, file, mode.name); });
  }
}

OpenModes::OpenModes(std::vector<Mode>& modes, const std::vector<std::string>& tie) : modes_(modes) {
  std::vector<std::string> names;
  for (const Mode& mode : modes) names.push_back(mode.name);
  tied_ = tied_modes(tie, names);
}

std::uint32_t OpenModes::find_or_add(std::size_t k, std::string_view label, const std::string& where) {
  const std::size_t other = tied_[k];
  if (other != k) add_label(modes_[other].labels, label, where, modes_[other].name);
  return add_label(modes_[k].labels, label, where, modes_[k].name);
}

void OpenModes::translate(const std::vector<Mode>& found, const std::vector<std::size_t>& columns,
                          const std::string& file, Buffer<std::uint32_t>& coords) {
  for (std::size_t c = 0; c < columns.size(); ++c)
    translate_column(found[c].labels, c, columns.size(), coords,
                     [&](std::string_view label) { return find_or_add(columns[c], label, file); });
}

}  // namespace ztp
