// Options that are one of a few values: an enum, and the name that flags, files and messages have for each value.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>

namespace ztp {

// The names of the values of an enum, in their order. Specialised beside each enum that is an option.
template <class Choice>
inline constexpr std::array<const char*, 0> choice_names = {};

// The name of a value: name_of(Sampler::automatic) is "auto".
template <class Choice>
requires std::is_enum_v<Choice> std::string name_of(Choice choice) {
  return choice_names<Choice>[static_cast<std::size_t>(choice)];
}

// The value of that name, if there is one.
template <class Choice>
std::optional<Choice> choice_named(const std::string& name) {
  for (std::size_t i = 0; i < choice_names<Choice>.size(); ++i)
    if (choice_names<Choice>[i] == name) return static_cast<Choice>(i);
  return std::nullopt;
}

}  // namespace ztp
