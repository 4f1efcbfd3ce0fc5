#include "io/grow_modes.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"
#include "io/id_map.hpp"
#include "io/lines.hpp"

namespace ztp {
namespace {

std::uint32_t grow_numbered(LabelTable& labels, std::string_view label, const std::string& file,
                            const std::string& mode) {
  const auto id = LabelTable::numbered(labels.first_number(), max_mode_size).find(label);
  if (!id)
    throw input_error("{}: {} {}: the entities of that mode are the numbers from {} on", file, mode, quoted(label),
                      labels.first_number());
  if (*id >= labels.size()) labels = LabelTable::numbered(labels.first_number(), *id + 1);
  return *id;
}

}  // namespace

void translate_and_grow(const std::vector<const Mode*>& found, const std::vector<Mode*>& columns,
                        const std::string& file, Buffer<std::uint32_t>& coords) {
  const std::size_t K = columns.size();
  if (found.size() != K) throw input_error("{}: {} columns of labels; {} are needed", file, found.size(), K);
  std::string scratch;
  for (std::size_t c = 0; c < K; ++c) {
    LabelTable& labels = columns[c]->labels;
    if (found[c]->name != columns[c]->name && found[c]->name != fmt::format("mode{}", c + 1))
      throw input_error("{}: column {} is called {}, but the run has {} there", file, c + 1, found[c]->name,
                        columns[c]->name);
    // Of a numbered mode only the numbers that occur count.
    const std::uint32_t size = found[c]->labels.size();
    std::vector<std::uint32_t> used = occurring_ids(coords.data(), coords.size() / K, K, c, size), ids;
    for (const std::uint32_t j : used) {
      const std::string_view label = found[c]->labels.name(j, scratch);
      ids.push_back(labels.is_numbered() ? grow_numbered(labels, label, file, columns[c]->name) : labels.add(label));
    }
    const IdMap new_id(std::move(used), std::move(ids), size);
    for (std::size_t i = c; i < coords.size(); i += K) coords[i] = new_id[coords[i]];
  }
}

}  // namespace ztp
