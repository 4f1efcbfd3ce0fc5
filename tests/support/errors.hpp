// What a refusal says.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include "ztp/error.hpp"

namespace ztp::test {

// The message of the Error that the body ends with, which must be of this kind, if one is given; "no error" without
// any.
inline std::string error_of(const std::function<void()>& body, std::optional<ErrorKind> kind = {}) {
  try {
    body();
  } catch (const Error& error) {
    if (kind) {
      EXPECT_EQ(error.kind(), *kind) << error.what();
    }
    return error.what();
  }
  return "no error";
}

// For messages that begin with a path of a temporary directory.
inline std::string error_of(const std::function<void()>& body, ErrorKind kind, const std::string& path) {
  std::string message = error_of(body, kind);
  if (message.starts_with(path)) message.replace(0, path.size(), "F");
  return message;
}

inline testing::AssertionResult holds(const std::string& message, const std::string& text) {
  if (message.find(text) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no \"" << text << "\" in: " << message;
}

}  // namespace ztp::test
