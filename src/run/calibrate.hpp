// Makes calibration.bin when a fit ends: cells that stand for the tensor, and a map to calibrated probabilities.
#pragma once
#include "run/sample_run.hpp"

namespace ztp {

// For a run with held-out ones whose draws.nc is written. The sample is the held-out cells and cells drawn in
// proportion to the rates of some draws, without training ones: uniformly drawn zeros alone hardly ever meet the cells
// that are probable, which are those that people look at. Each cell has the weight that its chance to be drawn in
// either way implies. Probabilities are those of ChainAverage with logits. Takes a pass over the draws. Returns the
// AUC-ROC of the held-out cells, each by the map that has not seen it; not a number, if there is no map.
double calibrate_run(const OpenRun& run);

}  // namespace ztp
