#include "evaluate/test_design.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace ztp {
namespace {

constexpr double like_enough = 1.5;  // shares of ones that are taken for the same

// Cells that were observed when the fit held some out.
double observed_cells(const RunInfo& info) {
  double cells = 1;
  for (const RunInfo::ModeInfo& mode : info.modes) {
    cells *= mode.size - mode.missing_slices;
    // One of so many cells is (i, i).
    if (info.options.self_cells == SelfCells::missing && !info.options.tie.empty() &&
        info.options.tie.front().starts_with(mode.name + "="))
      cells *= 1 - 1.0 / mode.size;
  }
  const std::uint64_t tested = info.options.holdout_as == HoldoutAs::missing ? info.test_ones + info.test_zeros : 0;
  return cells - static_cast<double>(info.missing_cells - std::min(info.missing_cells, tested));
}

}  // namespace

TestDesign design_of(const RunInfo& info, bool own, std::uint64_t ones, std::uint64_t zeros) {
  TestDesign design;
  const double known_ones = static_cast<double>(info.ones), tested = static_cast<double>(ones);
  design.all_zeros = std::max(observed_cells(info) - known_ones - tested, static_cast<double>(zeros));
  design.part_of_zeros = design.all_zeros > 0 ? static_cast<double>(zeros) / design.all_zeros : 0;
  design.part_of_ones = tested / (tested + known_ones);
  design.missing = own && info.options.holdout_as == HoldoutAs::missing;
  if (ones == 0 || zeros == 0) return design;
  // The fit's own hold-out draws zeros, whatever the shares look like. Of a file it is guessed. Shares of ones that
  // differ by chance alone do, too, where there are few.
  const bool drawn = own && info.options.test.empty() && info.updates == 0;
  const double expected = (tested + static_cast<double>(zeros)) * (tested + known_ones) / observed_cells(info);
  const double stands_for = design.part_of_ones / design.part_of_zeros;
  const bool alike = (stands_for > 1 / like_enough && stands_for < like_enough) ||
                     std::abs(tested - expected) < 4 * std::sqrt(expected);
  design.zeros = alike && !drawn ? TestDesign::Zeros::as_ones : TestDesign::Zeros::drawn;
  design.zero_stands_for = alike && !drawn ? 1 : stands_for;
  return design;
}

double with_more_zeros(double share, double times) {
  return share == 1 ? 1 : share / (share + times * (1 - share));
}

double expected_share(double probability, const TestDesign& design) {
  const double known = 1 - design.part_of_ones;
  if (!design.missing) return std::min(1.0, probability / known);  // of the ones, so many were seen, and no more zeros
  return with_more_zeros(probability, known / (1 - design.part_of_zeros));
}

}  // namespace ztp
