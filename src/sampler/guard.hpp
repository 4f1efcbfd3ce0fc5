// Numbers that have gone bad are found here, before counts are drawn with them: a value that is not a number would
// otherwise be in all of them a sweep later. Everything but a search for the row of a bad value is O(R K) a step:
// column sums come with the draw of the columns.
#pragma once
#include <cstdint>
#include <vector>

#include "sampler/problem.hpp"

namespace ztp {

// More counts than this together are an overflow: their sums still have room for what chance adds.
inline constexpr double most_counts = 0x1p62;

// What messages say of a step of a chain.
struct StepContext {
  const Problem& problem;
  const char* step;  // what a step is called
  std::uint32_t t;

  const std::string& name_of_matrix(std::size_t f) const;  // that of the first mode that uses it
};

// Each throws a numeric Error that names the step and what is wrong, with mode, row and component where there are any.

// The hyperparameters in use, and what a stored count stands for: positive and finite.
void check_shapes(const PriorShapes& shapes, double scale, const StepContext& context);
// The columns of factor matrix f by their sums, as draw_columns returns them.
void check_columns(const std::vector<double>& sums, const Factors& u, std::size_t f, const StepContext& context);
// network: its number, or -1 for the weights of the tensor.
void check_weights(const Weights& weights, int network, const StepContext& context);
// That all counts of a step will fit: observed ones, and the rate of those that are drawn.
void check_expected_counts(double observed, double rate, const StepContext& context);
// That they did: no sum is negative or too large.
void check_totals(const Statistics& statistics, const StepContext& context);

}  // namespace ztp
