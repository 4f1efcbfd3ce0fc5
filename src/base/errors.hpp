// Errors of each kind, with a message in the format of fmt: throw input_error("{}: no ones", file).
#pragma once
#include <fmt/format.h>

#include <utility>

#include "ztp/error.hpp"

namespace ztp {

template <ErrorKind kind>
struct ErrorOfKind {
  template <class... Args>
  Error operator()(fmt::format_string<Args...> message, Args&&... args) const {
    return Error(kind, fmt::format(message, std::forward<Args>(args)...));
  }
};

inline constexpr ErrorOfKind<ErrorKind::usage> usage_error;
inline constexpr ErrorOfKind<ErrorKind::input> input_error;
inline constexpr ErrorOfKind<ErrorKind::config> config_error;
inline constexpr ErrorOfKind<ErrorKind::numeric> numeric_error;
inline constexpr ErrorOfKind<ErrorKind::io> io_error;

}  // namespace ztp
