// People of three groups who relate to each other by their groups: data for models with tied modes. Seed 7.
#pragma once
#include <string>
#include <vector>

#include "base/random.hpp"
#include "ztp/options.hpp"
#include "ztp/read.hpp"

namespace ztp::test {

inline constexpr std::uint32_t people = 24, relations = 4;

// Who is of which of three groups, and which group relates to which: relation l leads from group g to g + l. Subjects
// and objects are the same people; "p0" is never an object, "p1" never a subject, and both modes have them in orders of
// their own.
inline Dataset groups(bool self = false) {
  Dataset data;
  data.tensor.modes = {{"subject", {}}, {"relation", LabelTable::numbered(1, relations)}, {"object", {}}};
  std::vector<std::uint32_t> subject(people), object(people);
  for (std::uint32_t i = 0; i < people; ++i)
    if (i != 1) subject[i] = data.tensor.modes[0].labels.add("p" + std::to_string(i));
  for (std::uint32_t i = people; i-- > 1;) object[i] = data.tensor.modes[2].labels.add("p" + std::to_string(i));
  Stream stream(stream_key(7, 0, Purpose::simulate), 0, 0);
  for (std::uint32_t i = 0; i < people; ++i)
    for (std::uint32_t l = 0; l < relations; ++l)
      for (std::uint32_t j = 0; j < people; ++j) {
        const bool related = (i + l) % 3 == j % 3, one = stream.uniform() < (related ? 0.8 : 0.02);
        if (!one || i == 1 || j == 0 || (i == j && !self)) continue;
        for (const std::uint32_t id : {subject[i], l, object[j]}) data.tensor.coords.push_back(id);
      }
  data.tensor.sort_and_merge();
  return data;
}

inline FitOptions tied() {
  FitOptions options;
  options.chains = 1;
  options.columns = {"subject=6", "relation=own"};
  options.tie = {"subject=object"};
  options.self_cells = SelfCells::missing;
  options.rank = 60;
  options.sweeps = 120;
  options.draws = 30;
  options.threads = 1;
  return options;
}

}  // namespace ztp::test
