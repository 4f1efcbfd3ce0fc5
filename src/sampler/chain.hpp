// What the sampling loop and those who record it need of a chain, whatever the model and the way it is fitted.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/state.hpp"
#include "ztp/progress.hpp"

namespace ztp {

// A piece of what a chain carries from step to step. Together with the number of the step, all of them are a
// checkpoint.
struct CheckpointField {
  std::string name;
  // On the host: so many bytes.
  void* data = nullptr;
  std::size_t bytes = 0;
  // If its length varies: makes room for so many bytes, and returns where they go.
  std::function<void*(std::size_t bytes)> make_room = {};
  // Or counts of a kernel. When they are restored there may be more rows, of entities that were not there before; they
  // stay as they are.
  Counts* rows = nullptr;
};

class Chain {
 public:
  explicit Chain(std::uint32_t number) : number_(number) {}
  virtual ~Chain() = default;
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  virtual void start() = 0;
  // One sweep, minibatch or iteration. Returns the log-likelihood of the data at its parameters, or what the minibatch
  // says of it; not a number, if it costs extra and is not asked for. Whatever it throws: if the chain is still whole()
  // then, it is as it was before the step.
  virtual double step(bool likelihood) = 0;
  virtual bool knows_likelihood() const { return true; }     // if not, it is never a number
  virtual const char* step_name() const { return "sweep"; }  // for messages
  // Makes the state a draw of all parameters, if it is not one already.
  virtual void draw_state() = 0;

  virtual std::vector<CheckpointField> checkpoint_fields() = 0;
  // Continues after step t, once its fields have been restored.
  virtual void restore(std::uint32_t t) {
    t_ = t;
    whole_ = true;
  }

  virtual std::vector<double> learned() const = 0;       // what else a draw consists of, besides the state
  virtual void describe(SweepReport& report) const = 0;  // what the report says of the parameters
  // The probabilities of cells (count x K) at the state. O(count R K).
  virtual void probabilities(const std::uint32_t* cells, std::size_t count, double* probability) const = 0;

  std::uint32_t number() const { return number_; }
  std::uint32_t steps_done() const { return t_; }
  // Whether its fields are those of steps_done() steps: not while a step changes it, nor after a step that failed then.
  bool whole() const { return whole_; }
  const State& state() const { return state_; }

 protected:
  std::uint32_t number_;
  std::uint32_t t_ = 0;
  bool whole_ = true;
  State state_;
};

}  // namespace ztp
