#include "kernel/cpu/cpu_kernel.hpp"

#include "kernel/cpu/allocate.hpp"
#include "kernel/cpu/candidates.hpp"
#include "kernel/cpu/columns.hpp"
#include "kernel/cpu/expect.hpp"
#include "kernel/cpu/instruction_set.hpp"
#include "kernel/cpu/place.hpp"
#include "kernel/cpu/score.hpp"

namespace ztp {
namespace {

class CpuKernel final : public Kernel {
 public:
  explicit CpuKernel(Pool& pool) : pool_(pool), allocator_(pool) {}

  void reserve(std::size_t entries) override { allocator_.reserve(entries); }
  double allocate(const Entries& entries, const Rates& rates, StreamKey key, std::uint32_t sweep,
                  const Sums& sums) override {
    if (sums.expected) return cpu::expect(pool_, entries, rates, sums);
    return allocator_.allocate(entries, rates, {key, sweep}, sums);
  }
  std::vector<double> draw_columns(const Columns& columns, StreamKey key, std::uint32_t sweep,
                                   Matrix<float>& u) override {
    return cpu::draw_columns(pool_, columns, {key, sweep}, u);
  }
  void mean_columns(const Columns& columns, Matrix<float>& u) override { cpu::mean_columns(pool_, columns, u); }
  double impute_diagonal(const Matrix<float>& u, const std::vector<double>& log_beta, StreamKey key,
                         std::uint32_t sweep, const Sums& sums) override {
    return cpu::impute_diagonal(pool_, u, log_beta, {key, sweep}, sums);
  }
  std::vector<double> column_mass(const Matrix<float>& u, Rows rows) override {
    return cpu::column_mass(pool_, u, rows);
  }
  void place(const Matrix<float>& u, Rows rows, const std::vector<std::int64_t>& totals, const Streams& streams,
             const Sums& sums) override {
    cpu::place(pool_, u, rows, totals, streams, sums);
  }
  void spread(const Matrix<float>& u, Rows rows, int power, const std::vector<double>& factor,
              Matrix<std::int64_t>& S) override {
    cpu::spread(pool_, u, rows, power, factor, S);
  }
  void shift(int bits, Matrix<std::int64_t>& S) override { cpu::shift(pool_, bits, S); }
  void move(const Matrix<std::int64_t>& towards, double part, Matrix<std::int64_t>& S) override {
    cpu::move(pool_, towards, part, S);
  }
  Tally tally(const Matrix<std::int64_t>& S) override { return cpu::tally(pool_, S); }
  void score(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* z) override {
    cpu::score(pool_, coords, count, rates, z);
  }
  void add_probabilities(std::span<const CandidateDraw> draws, std::size_t R, std::size_t tiles,
                         Matrix<float>& sums) override {
    cpu::add_probabilities(pool_, draws, R, tiles, sums);
  }

 private:
  Pool& pool_;
  cpu::Allocator allocator_;
};

}  // namespace

std::unique_ptr<Kernel> make_cpu_kernel(Pool& pool) {
  cpu::check_instruction_set();
  return std::make_unique<CpuKernel>(pool);
}

}  // namespace ztp
