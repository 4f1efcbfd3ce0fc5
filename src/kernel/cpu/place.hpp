#pragma once
#include "kernel/kernel.hpp"

namespace ztp::cpu {

std::vector<double> column_mass(Pool& pool, const Matrix<float>& u, Rows rows);
void place(Pool& pool, const Matrix<float>& u, Rows rows, const std::vector<std::int64_t>& totals, StreamKey key,
           std::uint32_t sweep, Matrix<std::int64_t>& S, std::int64_t unit);
void spread(Pool& pool, const Matrix<float>& u, Rows rows, int power, const std::vector<double>& factor,
            Matrix<std::int64_t>& S);
void shift(Pool& pool, int bits, Matrix<std::int64_t>& S);
void move(Pool& pool, const Matrix<std::int64_t>& towards, double part, Matrix<std::int64_t>& S);
Tally tally(Pool& pool, const Matrix<std::int64_t>& S);

}  // namespace ztp::cpu
