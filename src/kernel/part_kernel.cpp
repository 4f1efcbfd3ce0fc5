#include "kernel/part_kernel.hpp"

#include <algorithm>

namespace ztp {
namespace {

template <class T, class Number>
void bring_rows(Pool& pool, const RowArray<T>& from, Matrix<Number>& to) {
  const std::size_t P = from.columns();
  const Blocks blocks{from.rows(), std::max<std::size_t>(1, from.values_at_once() / std::max<std::size_t>(P, 1))};
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    std::vector<T> values((blocks.end(b) - blocks.begin(b)) * P);
    from.read({blocks.begin(b), blocks.end(b)}, values.data());
    for (std::size_t j = blocks.begin(b); j < blocks.end(b); ++j)
      std::transform(values.data() + (j - blocks.begin(b)) * P, values.data() + (j + 1 - blocks.begin(b)) * P,
                     to.row(j), [](T value) { return static_cast<Number>(value); });
  });
}

template <class T, class Number>
void send_rows(Pool& pool, const Matrix<Number>& from, RowArray<T>& to) {
  constexpr std::size_t values_of_block = std::size_t{1} << 24, rows_of_piece = 1024;
  const std::size_t P = to.columns();
  const Blocks blocks{to.rows(), std::max(rows_of_piece, values_of_block / std::max<std::size_t>(P, 1))};
  std::vector<T> values;
  for (std::size_t b = 0; b < blocks.count(); ++b) {
    const Blocks pieces{blocks.end(b) - blocks.begin(b), rows_of_piece};
    values.resize(pieces.total * P);
    pool.for_blocks(pieces.count(), [&](std::size_t p) {
      for (std::size_t i = pieces.begin(p); i < pieces.end(p); ++i)
        std::copy_n(from.row(blocks.begin(b) + i), P, values.data() + i * P);
    });
    to.write({blocks.begin(b), blocks.end(b)}, values.data());
  }
}

}  // namespace

void PartKernel::send_factors(Pool& pool, const HostFactors& from, Factors& to) {
  send_rows(pool, from.values, to);
}

void PartKernel::bring_factors(Pool& pool, const Factors& from, HostFactors& to) {
  bring_rows(pool, from, to.values);
}

void PartKernel::send_counts(Pool& pool, const HostCounts& from, Counts& to) {
  from.visit([&](const auto& values) { send_rows(pool, values, to); });
}

void PartKernel::bring_counts(Pool& pool, const Counts& from, HostCounts& to) {
  to.visit([&](auto& values) { bring_rows(pool, from, values); });
}

}  // namespace ztp
