// Can the answers of a run be used? Three questions, answered in plain words: the same in the shell, the report and
// Python.
#pragma once
#include <string>
#include <vector>

#include "ztp/choices.hpp"

namespace ztp {

enum class Answer { yes, nearly, no, unknown };
template <>
inline constexpr auto choice_names<Answer> = std::array{"yes", "nearly", "no", "unknown"};

struct RunVerdict {
  std::string question;             // "Have the chains converged?"
  Answer answer = Answer::unknown;  // also if it does not apply, as to a point estimate
  std::string words;                // "the chains do not agree on predictions (worst R-hat 1.83)", and what to do

  std::string line() const;  // "Have the chains converged? No: the chains do not agree ..."
};

// As Posterior::verdicts. Draws are read only if cells were held out.
std::vector<RunVerdict> run_verdicts(const std::string& run_dir);

}  // namespace ztp
