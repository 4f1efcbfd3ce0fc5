// Everything of ztp. In ten lines:
//
//   #include <ztp/ztp.hpp>
//
//   ztp::ReadOptions files{.file = "ones.tsv", .networks = {"user=friends.tsv"}};
//   ztp::FitOptions options{.rank = 50, .holdout = 0.1};
//   ztp::fit(ztp::read_dataset(files, options), options, "run");
//
//   ztp::Posterior posterior("run");
//   const std::uint32_t cell[] = {0, 7, 3};                   // ids, such as posterior.modes()[0].labels.find("alice")
//   const ztp::Prediction p = posterior.predict(cell, 1)[0];  // p.probability, p.sd, p.q05, p.q95
//
// Errors are thrown as ztp::Error. Nothing is printed.
#pragma once

// Data
#include "ztp/arrays.hpp"       // arrays in memory to a Dataset
#include "ztp/check.hpp"        // what is odd about a file, and what a fit will need
#include "ztp/convert.hpp"      // text files to tensor files
#include "ztp/read.hpp"         // text files to a Dataset
#include "ztp/simulate.hpp"     // synthetic data
#include "ztp/split.hpp"        // training and test data
#include "ztp/tensor.hpp"       // what is in it
#include "ztp/tensor_file.hpp"  // ones that stay on disk

// Fitting: from a Dataset and options to a run directory
#include "ztp/fit.hpp"
#include "ztp/option_fields.hpp"  // the options as a list
#include "ztp/options.hpp"
#include "ztp/rivals.hpp"  // the paper's rivals, a library of their own
#include "ztp/update.hpp"  // new data for a run

// Reading a run directory
#include "ztp/diagnose.hpp"   // have the chains converged?
#include "ztp/match.hpp"      // which component of one chain is which of another
#include "ztp/posterior.hpp"  // predictions, accuracy, components, recommendations
#include "ztp/report.hpp"     // everything as one HTML page
#include "ztp/run_info.hpp"   // what was run

// Everywhere
#include "ztp/error.hpp"
#include "ztp/version.hpp"
