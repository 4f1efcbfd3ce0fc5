// Where draws are scored: on a device that keeps them, or on the rows that the cells touch.
#include "base/memory.hpp"
#include "kernel/host_arrays.hpp"
#include "kernel/logits.hpp"
#include "options/options.hpp"
#include "posterior/posterior_impl.hpp"
#include "store/data.hpp"

namespace ztp {

double Posterior::Impl::room() const {
  return room_within(options.memory.empty() ? memory_of_machine() : memory_limit(options.memory));
}

Dataset Posterior::Impl::mapped_data() const {
  Dataset data = map_data(run_dir, info, true);
  for (Mode& mode : data.tensor.modes) mode.labels = LabelTable::unnamed(mode.labels.size());
  return data;
}

const State* Posterior::Impl::kept_draw(std::size_t i) {
  kept.resize(draws.draws().size());
  if (kept[i]) return kept[i].get();
  if (rival || draw_bytes(layout) > static_cast<double>(kernel->room_for_draws())) return nullptr;
  auto loaded = std::make_unique<State>(draws.make_state(*kernel));
  draws.load(i, *loaded);
  kept[i] = std::move(loaded);
  return kept[i].get();
}

State& Posterior::Impl::whole_draw() {
  if (!whole) whole = draws.make_state(*kernel);
  return *whole;
}

void Posterior::Impl::prepare_for_cells(std::size_t cells, std::size_t of_draws) {
  constexpr double products_a_second = 1e9;
  // With a one-hot mode a cell has the components of its entity.
  const std::size_t one_hot = layout.one_hot_mode();
  const double groups = one_hot < layout.modes() ? static_cast<double>(layout.size_of_mode(one_hot).rows) : 1;
  prepare_for_seconds(static_cast<double>(cells) * static_cast<double>(of_draws) *
                      static_cast<double>(layout.components() * layout.modes()) / groups / products_a_second);
}

void Posterior::Impl::prepare_for_seconds(double seconds) {
  if (options.kernel != KernelName::automatic || rival) return;
  std::unique_ptr<Kernel> device = make_device_kernel(seconds, pool.threads());
  if (!device) return;
  options.kernel = KernelName::cpu;  // it is asked for once: here it is, or it has no room
  if (draw_bytes(layout) > static_cast<double>(device->room_for_draws())) return;
  whole.reset();
  kernel = std::move(device);
}

void Posterior::Impl::for_scorers(const std::uint32_t* coords, std::size_t count,
                                  const std::function<void(Scorer&, std::size_t)>& use) {
  prepare_for_cells(count, draws.draws().size());
  for (std::size_t first = 0, cells; first < count; first += cells) {
    Scorer scorer(*this, coords + first * layout.modes(), count - first);
    cells = scorer.cells();
    use(scorer, first);
  }
}

Posterior::Impl::Scorer::Scorer(Impl& impl, const std::uint32_t* coords, std::size_t count)
    : impl_(impl), coords_(coords), count_(count), unseen_(has_unseen_entities(impl.layout, coords, count)) {
  if (unseen_ || impl.kept_draw(0) == nullptr) make_rows(impl.room());
}

void Posterior::Impl::Scorer::make_rows(double room) {
  rows_.emplace(impl_.draws, coords_, count_, room);
  HostArrays host;
  state_ = rows_->make_state(impl_.rival ? static_cast<ArrayMaker&>(host) : *impl_.kernel);
  if (!impl_.rival) cells_ = impl_.kernel->upload({.coords = rows_->coords(), .count = cells()}, rows_->layout());
}

void Posterior::Impl::Scorer::score(std::size_t i, double* z) {
  if (const State* drawn = unseen_ ? nullptr : impl_.kept_draw(i)) {
    if (!whole_) whole_ = impl_.kernel->upload({.coords = coords_, .count = cells()}, impl_.layout);
    return impl_.kernel->score(*whole_, tensor_rates(*drawn), z);
  }
  if (!rows_) make_rows(std::numeric_limits<double>::infinity());  // a device that keeps some of the draws
  rows_->load(i, *state_);
  if (impl_.rival)
    logits(impl_.pool, recorded_model(*state_, impl_.draws.intercept(i)), rows_->coords(), cells(), z);
  else
    impl_.kernel->score(*cells_, tensor_rates(*state_), z);
}

}  // namespace ztp
