// What batch and online chains share where components share columns: the first columns, and columns in a checkpoint.
#pragma once
#include <vector>

#include "sampler/chain.hpp"
#include "sampler/latent_counts.hpp"

namespace ztp {

// Columns at random. Every entity of a one-hot mode has a component at least: its ones must be somewhere.
void draw_first_columns(const LatentCounts& counts, FactorLayout& layout);

void add_column_fields(FactorLayout& layout, std::vector<CheckpointField>& fields);
// Whether every component has columns that exist.
bool columns_are_there(const FactorLayout& layout);

}  // namespace ztp
