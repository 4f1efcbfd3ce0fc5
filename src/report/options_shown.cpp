#include "report/options_shown.hpp"

#include <fmt/format.h>

namespace ztp {

std::vector<const OptionField*> options_with_effect(const RunInfo& info) {
  std::vector<const OptionField*> fields;
  for (const OptionField& field : fit_option_fields()) {
    const bool met = field.needs == Need::nothing || (field.needs == Need::holdout && info.options.holdout > 0) ||
                     (field.needs == Need::test_cells && info.test_ones + info.test_zeros > 0) ||
                     (field.needs == Need::online && is_online(info.options)) ||
                     (field.needs == Need::network && !info.networks.empty());
    if (met && field.used_by(info.options.model)) fields.push_back(&field);
  }
  return fields;
}

bool was_changed(const OptionField& field, const RunInfo& info) {
  if (!field.is_changed(info.options)) return false;
  const std::string command = fmt::format(" {} ", info.command);
  const auto typed = [&](const char* end) {
    return command.find(fmt::format(" {}{}", field.flag(), end)) != std::string::npos;
  };
  return !field.is_filled_in() || typed(" ") || typed("=");
}

}  // namespace ztp
