// Options that are one of a few values: an enum, and the name that flags, files and messages have for each value.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace ztp {

// The names of the values of an enum, in their order. Each enum that is an option has a specialisation of it.
template <class Choice>
const std::vector<std::string>& choice_names();

// The name of a value: name_of(Sampler::automatic) is "auto".
template <class Choice>
  requires std::is_enum_v<Choice>
const std::string& name_of(Choice choice) {
  return choice_names<Choice>()[static_cast<std::size_t>(choice)];
}

// The value of that name, if there is one.
template <class Choice>
std::optional<Choice> choice_named(const std::string& name) {
  const std::vector<std::string>& names = choice_names<Choice>();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<Choice>(i);
  return std::nullopt;
}

}  // namespace ztp
