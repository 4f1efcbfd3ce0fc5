#include <charconv>
#include <cmath>

#include "io/parse.hpp"

namespace ztp {
namespace {

constexpr std::uint64_t largest_value = 1ull << 62;

// Digits only, and few enough that they cannot overflow.
bool parse_short_integer(std::string_view text, std::int64_t& value) {
  if (text.empty() || text.size() > 18) return false;
  value = 0;
  for (const char c : text) {
    const unsigned digit = static_cast<unsigned char>(c) - unsigned{'0'};
    if (digit > 9) return false;
    value = 10 * value + digit;
  }
  return true;
}

const char* parse_real(std::string_view text, double& value) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range && stop == end)
    return "is out of range; write a number that fits into a double";
  if (error != std::errc() || stop != end) return "is not a number; the last column must be a number";
  if (!std::isfinite(value)) return "is not finite; the last column must be a finite number";
  return nullptr;
}

const char* parse_count(std::string_view text, std::int64_t& value) {
  constexpr const char* too_large = "is too large; counts go up to 2^62";
  double real = 0;
  if (const char* wrong = parse_real(text, real)) return wrong;
  if (real < 0) return "is negative; a count is an integer, 0 or more";
  if (real != std::floor(real)) return "is not an integer; a count is an integer, 0 or more";
  if (real > static_cast<double>(largest_value)) return too_large;
  // A double is not exact above 2^53, digits are.
  std::uint64_t exact = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), exact);
  if (error != std::errc() || stop != text.data() + text.size()) exact = static_cast<std::uint64_t>(real);
  if (exact > largest_value) return too_large;
  value = static_cast<std::int64_t>(exact);
  return nullptr;
}

}  // namespace

const char* parse_general_value(std::string_view text, ValueKind rule, std::int64_t& value) {
  const bool integer = parse_short_integer(text, value);
  if (rule == ValueKind::counts || rule == ValueKind::outcomes) return integer ? nullptr : parse_count(text, value);
  double real = 0;
  if (integer)
    real = static_cast<double>(value);
  else if (const char* wrong = parse_real(text, real); wrong != nullptr && rule != ValueKind::zero_one)
    return wrong;
  else if (wrong != nullptr)
    real = -1;  // as bad as any other number
  if (rule == ValueKind::zero_one && real != 0 && real != 1)
    return "is neither 0 nor 1; the last column must be 0 or 1";
  value = real != 0 ? 1 : 0;
  return nullptr;
}

}  // namespace ztp
