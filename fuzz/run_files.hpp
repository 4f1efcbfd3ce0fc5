// A good options.json and status.json: two chains, two modes, every key.
#pragma once
#include <string_view>

namespace fuzz {

constexpr std::string_view good_options = R"json({
"ztp_version": "1.0.0",
"format": 1,
"command": "ztp fit a.tsv",
"created": "2026-01-01T00:00:00Z",
"fingerprint": "0d6947cdef5b7fb0",
"options": {"model": "ztp", "rank": 2, "likelihood": "binary", "method": "batch", "sweeps": 40, "burn_in": 20,
"keep_every": 5, "draws": 6, "chains": 2, "seed": 1, "threads": 2, "sampler": "collapsed", "start": "allocation",
"learn": "dirichlet", "minibatch": 1, "kappa": 0.5, "t0": 0.0, "latent": "mean", "parameters": "sample",
"inner_draws": 1, "dirichlet": ["0.1"], "gamma_shape": 0.1, "beta_concentration": 1.0, "beta_mean": 0.5,
"network_gamma_shape": 0.1, "network_beta_concentration": 1.0, "network_beta_mean": 0.5, "holdout": 0.0,
"zeros_per_one": 5, "test": "", "holdout_as": "zero", "kernel": "cpu", "zeros": "auto", "ridge": 1.0,
"blocks": 4096},
"updates": 0,
"keep_every_used": 10,
"watch_every_used": 1,
"ones": 4,
"ones_file": "",
"ones_in_file": 0,
"total_count": 0,
"missing_cells": 0,
"test_ones": 0,
"test_zeros": 0,
"training_zeros": 0,
"zeros_used": 0.0,
"modes": [{"name": "user", "size": 2, "numbered": false, "first": 0, "dirichlet": 0.1, "missing_slices": 0},
{"name": "item", "size": 2, "numbered": true, "first": 1, "dirichlet": 0.1, "missing_slices": 0}],
"networks": [{"mode": "user", "source": "n.tsv", "edges": 1, "missing_pairs": 0}]
}
)json";

constexpr std::string_view good_status = R"json({
"status": "complete",
"sweeps": 40,
"draws_planned": 4,
"draws": 4,
"peak_memory_bytes": 26095616,
"auc_roc": 0.75,
"chains": [{"sweeps": 40, "seconds": 0.0284085929961293, "log_likelihood": -7.2155213052499505, "occupied": 2,
"occupied_mean": 2.0, "network_only": 0}, {"sweeps": 40, "seconds": 0.09229731598315993,
"log_likelihood": -6.71669413829851, "occupied": 1, "occupied_mean": 1.5, "network_only": 0}],
"learned": {"dirichlet_user": 1.1629374101758003, "dirichlet_item": 0.16247810795903206},
"rank_posterior": [{"occupied": 1, "probability": 0.25}, {"occupied": 2, "probability": 0.75}]
}
)json";

// The same with as little as will do.
constexpr std::string_view short_options = R"json({"ztp_version": "1.0.0", "command": "", "created": "",
"fingerprint": "", "options": {"sweeps": 40, "burn_in": 20, "chains": 2}, "updates": 0, "keep_every_used": 1,
"watch_every_used": 1, "ones": 0, "ones_file": "", "ones_in_file": 0, "total_count": 0, "missing_cells": 0,
"test_ones": 0, "test_zeros": 0,
"modes": [{"name": "a", "size": 2, "numbered": true, "first": 1, "dirichlet": 1, "missing_slices": 0},
{"name": "b", "size": 2, "numbered": true, "first": 1, "dirichlet": 1, "missing_slices": 0}], "networks": []})json";
constexpr std::string_view short_status =
    R"json({"status": "complete", "sweeps": 40, "draws_planned": 0, "draws": 0, "peak_memory_bytes": 0, "auc_roc": 0,
"chains": [], "learned": {}, "rank_posterior": []})json";

}  // namespace fuzz
