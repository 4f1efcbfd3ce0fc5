#include "store/calibration_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/section_file.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

std::string path_of(const std::string& run_dir) {
  return run_dir + "/calibration.bin";
}

bool is_usable(const CalibrationMap& map) {
  if (map.knots > CalibrationMap::most_knots) return false;
  double slope = 0;
  for (std::size_t i = 0; i < map.terms(); ++i) {
    for (const double value : map.covariance[i])
      if (!std::isfinite(value)) return false;
    slope += i > 0 ? map.b[i] : 0;
    if (!std::isfinite(map.b[i]) || (i > 0 && !(slope > 0)) || (i > 2 && map.knot[i - 2] < map.knot[i - 3]))
      return false;
  }
  return true;
}

bool fits(const RunCalibration& found, const RunInfo& info) {
  const std::size_t cells = found.size(), K = info.modes.size();
  if (found.coords.size() != cells * K || found.weight.size() != cells || found.fold.size() != cells ||
      found.tested > cells || found.of_fold.size() != (found.map ? calibration_folds : 0))
    return false;
  for (std::size_t e = 0; e < cells; ++e) {
    for (std::size_t k = 0; k < K; ++k)
      if (found.coords[e * K + k] >= info.modes[k].size) return false;
    if (found.outcome[e] > 1 || found.fold[e] >= calibration_folds || !(found.weight[e] >= 0) ||
        !std::isfinite(found.weight[e]))
      return false;
  }
  return (!found.map || is_usable(*found.map)) && std::all_of(found.of_fold.begin(), found.of_fold.end(), is_usable);
}

}  // namespace

void store_calibration(const std::string& run_dir, const RunCalibration& calibration) {
  SectionWriter file(path_of(run_dir));
  file.values("map", calibration.map ? &*calibration.map : nullptr, calibration.map ? 1 : 0);
  file.values("folds", calibration.of_fold.data(), calibration.of_fold.size());
  file.values("tested", &calibration.tested, 1);
  file.values("coords", calibration.coords.data(), calibration.coords.size());
  file.values("outcome", calibration.outcome.data(), calibration.outcome.size());
  file.values("weight", calibration.weight.data(), calibration.weight.size());
  file.values("fold", calibration.fold.data(), calibration.fold.size());
  file.commit();
}

std::optional<RunCalibration> load_calibration(const std::string& run_dir, const RunInfo& info) {
  const std::string path = path_of(run_dir);
  std::error_code no_access;
  if (!std::filesystem::exists(path, no_access)) return std::nullopt;
  const std::string remedy =
      fmt::format("; use --raw, or remove the file and let 'ztp resume {}' make it again", run_dir);
  RunCalibration found;
  try {
    const SectionReader file(path);
    const Buffer<CalibrationMap> map = file.values<CalibrationMap>("map"), folds = file.values<CalibrationMap>("folds");
    if (map.size() > 0) found.map = map[0];
    found.of_fold.assign(folds.begin(), folds.end());
    file.read("tested", &found.tested, sizeof found.tested);
    found.coords = file.values<std::uint32_t>("coords");
    found.outcome = file.values<std::uint8_t>("outcome");
    found.weight = file.values<double>("weight");
    found.fold = file.values<std::uint8_t>("fold");
  } catch (const Error& error) {
    throw Error(error.kind(), error.what() + remedy);
  }
  if (!fits(found, info))
    throw Error(ErrorKind::input, fmt::format("{} is damaged: its numbers do not match the run{}", path, remedy));
  return found;
}

void remove_calibration(const std::string& run_dir) {
  std::error_code ignored;
  std::filesystem::remove(path_of(run_dir), ignored);
}

}  // namespace ztp
