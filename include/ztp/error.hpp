// The one exception of ztp. The library never prints and never exits: it throws this.
#pragma once
#include <stdexcept>
#include <string>

namespace ztp {

// The command line has an exit code for each, from 2 on.
enum class ErrorKind {
  usage,    // the call itself is wrong: a flag, an argument
  input,    // data that are not in the expected format; the message names file:line:column
  config,   // options that do not fit together or do not fit the data
  numeric,  // a number is no longer finite; the message names the sweep and the place
  io,       // the operating system, or a server, refused a read or a write
};

// what() is a message for people, in one line.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace ztp
