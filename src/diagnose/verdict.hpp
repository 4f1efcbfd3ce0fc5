// The verdict of a diagnosis: grades, and sentences that tell what to do.
#pragma once
#include "ztp/diagnose.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

inline constexpr std::size_t fewest_sweeps = 50;  // after burn-in in a chain: with fewer nothing is judged

// Reads the numbers of the diagnosis, writes its verdicts and sentences.
void judge(const RunInfo& info, const std::string& run_dir, Diagnosis& diagnosis);

}  // namespace ztp
