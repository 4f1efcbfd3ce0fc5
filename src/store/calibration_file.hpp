// calibration.bin of a run directory: a sample of cells that stands for the tensor, and the map from probabilities to
// calibrated ones that was fitted to it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "evaluate/calibration_map.hpp"
#include "ztp/buffer.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

inline constexpr std::size_t calibration_folds = 5;
// With fewer held-out ones there is no map.
inline constexpr std::uint64_t ones_for_calibration = 50;

struct RunCalibration {
  std::optional<CalibrationMap> map;  // of all cells; nothing, if none could be fitted
  // Cross-fitting: the map for the cells of a fold is fitted to the cells of all others.
  std::vector<CalibrationMap> of_fold;

  // The sample: the test cells of the run first, then cells that were drawn.
  std::uint64_t tested = 0;
  Buffer<std::uint32_t> coords;  // cells x K
  Buffer<std::uint8_t> outcome;
  Buffer<double> weight;  // how many cells a cell stands for, if a held-out one stands for one
  Buffer<std::uint8_t> fold;
  std::size_t size() const { return outcome.size(); }
};

void store_calibration(const std::string& run_dir, const RunCalibration& calibration);
// Nothing, if there is no such file. Error (input), if it is damaged or not of this run.
std::optional<RunCalibration> load_calibration(const std::string& run_dir, const RunInfo& info);
void remove_calibration(const std::string& run_dir);

}  // namespace ztp
