// Fitting: from a Dataset to a run directory. Python's lock is not held while the chains run.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>

#include "bindings.hpp"

namespace ztp::python {
namespace {

// The callbacks of a fit: reports sweeps to a callable, and checks for Ctrl-C. The library treats an exception as an
// interruption: the fit ends with a checkpoint, and the exception is raised then.
class Listener {
 public:
  Listener(nb::object on_sweep, nb::object on_message, nb::object on_warning, std::string command)
      : on_sweep_(std::move(on_sweep)),
        on_message_(std::move(on_message)),
        on_warning_(std::move(on_warning)),
        command_(std::move(command)) {}

  FitCallbacks callbacks() {
    FitCallbacks result;
    result.on_sweep = [this](const SweepReport& report) { latest_ = report; };
    result.stop_requested = [this] {
      poll_python();
      return false;
    };
    result.on_message = [this](const std::string& message) {
      nb::gil_scoped_acquire held;
      on_message_(in_python_terms(message));
    };
    result.on_warning = [this](const std::string& warning) {
      nb::gil_scoped_acquire held;
      on_warning_(warning);
    };
    result.command = command_;
    return result;
  }

  void tell_latest() {
    if (!on_sweep_.is_none() && latest_.sweep > 0)
      on_sweep_(latest_.done, latest_.planned, latest_.log_likelihood, latest_.occupied, latest_.auc_roc);
  }

 private:
  // Taking Python's lock can cost milliseconds if other threads hold it, and a sweep may be shorter than that.
  void poll_python() {
    const auto now = std::chrono::steady_clock::now();
    if (now - polled_ < std::chrono::milliseconds(50)) return;
    polled_ = now;
    nb::gil_scoped_acquire held;
    check_signals();
    tell_latest();
  }

  nb::object on_sweep_, on_message_, on_warning_;
  std::string command_;
  SweepReport latest_;
  std::chrono::steady_clock::time_point polled_;
};

// Runs with Python's lock released, then reports the last sweep.
template <class Run>
auto listen(Listener& listener, const Run& run) {
  auto result = without_lock([&] { return run(listener.callbacks()); });
  listener.tell_latest();
  return result;
}

Dict as_dict(const UpdateSummary& summary) {
  Dict dict;
  dict["ones"] = summary.ones;
  dict["known_ones"] = summary.known_ones;
  dict["edges"] = summary.edges;
  dict["known_edges"] = summary.known_edges;
  nb::dict entities;
  for (const auto& [mode, count] : summary.entities) entities[mode.c_str()] = count;
  dict["new_entities"] = entities;
  dict["warnings"] = summary.warnings;
  return dict;
}

}  // namespace

void bind_fit(nb::module_& module) {
  nb::class_<Listener>(module, "Listener", "What a fit calls: on_sweep(done, planned, log_likelihood, occupied, auc).")
      .def(nb::init<nb::object, nb::object, nb::object, std::string>(), nb::arg("on_sweep").none(),
           nb::arg("on_message"), nb::arg("on_warning"), nb::arg("command"),
           nb::sig("def __init__(self, on_sweep: collections.abc.Callable[[int, int, float, int, float], None] | None, "
                   "on_message: collections.abc.Callable[[str], None], "
                   "on_warning: collections.abc.Callable[[str], None], command: str) -> None"));
  module.def(
      "ended_text", [](const std::string& run_dir) { return in_python_terms(ended_text(run_info(run_dir))); },
      nb::arg("run_dir"));
  module.def("check_run_dir", &check_run_dir, nb::arg("run_dir"), nb::arg("replace"));
  module.def(
      "check_options",
      [](const std::string& options_json, bool networks) { check_options(options_from_json(options_json), networks); },
      nb::arg("options"), nb::arg("networks"));
  module.def(
      "fit",
      [](Dataset& data, const std::string& options_json, const std::string& run_dir, Listener& listener, bool replace) {
        const FitOptions options = options_from_json(options_json);
        listen(listener, [&](const FitCallbacks& callbacks) {
          return fit(std::move(data), options, run_dir, callbacks, replace);
        });
      },
      nb::arg("data"), nb::arg("options"), nb::arg("run_dir"), nb::arg("listener"), nb::arg("replace"));
  module.def(
      "resume",
      [](const std::string& run_dir, Listener& listener, std::int64_t sweeps, unsigned threads) {
        ResumeOptions options;
        options.sweeps = sweeps;
        options.threads = threads;
        listen(listener, [&](const FitCallbacks& callbacks) { return resume(run_dir, callbacks, options); });
      },
      nb::arg("run_dir"), nb::arg("listener"), nb::arg("sweeps"), nb::arg("threads"));
  module.def(
      "update",
      [](const std::string& run_dir, Arrays& fresh, Listener& listener, std::int64_t sweeps, std::int64_t draws,
         std::int64_t minibatch, unsigned threads) {
        UpdateOptions options;
        options.sweeps = sweeps;
        options.draws = draws;
        options.minibatch = minibatch;
        options.threads = threads;
        options.require_new_data = false;
        return as_dict(listen(listener, [&](const FitCallbacks& callbacks) {
          return update(run_dir, std::move(fresh), options, callbacks);
        }));
      },
      nb::arg("run_dir"), nb::arg("fresh"), nb::arg("listener"), nb::arg("sweeps"), nb::arg("draws"),
      nb::arg("minibatch"), nb::arg("threads"));
}

}  // namespace ztp::python
