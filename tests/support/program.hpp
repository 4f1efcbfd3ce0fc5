// The program, run as a user runs it.
#pragma once
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace ztp::test {

struct Answer {
  int code = 0;
  std::string text;  // standard output and standard error
};

// `arguments` are words of the shell.
inline Answer run_program(const std::string& arguments) {
  std::FILE* pipe = popen(("'" ZTP_PROGRAM_FILE "' " + arguments + " 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run the program");
  Answer answer;
  std::array<char, 4096> buffer;
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe))
    answer.text.append(buffer.data(), got);
  const int status = pclose(pipe);
  answer.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return answer;
}

}  // namespace ztp::test
