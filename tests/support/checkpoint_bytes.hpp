// What a chain carries from step to step, and the parameters it has drawn, as bytes: equal if every bit is.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "sampler/chain.hpp"

namespace ztp::test {

inline std::string bytes_of(const std::vector<double>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

template <class T>
std::string bytes_of(const RowArray<T>& array) {
  std::string bytes;
  for_blocks_of_rows(array, [&](Range rows, const T* values) {
    bytes.append(reinterpret_cast<const char*>(values), rows.size() * array.columns() * sizeof(T));
  });
  return bytes;
}

// Factors and weights.
inline std::string parameter_bytes(const State& state) {
  std::string bytes;
  const auto add = [&](const Weights& weights) { bytes += bytes_of(weights.log_weight) + bytes_of(weights.log_p); };
  for (const auto& of_matrix : state.factors) bytes += bytes_of(*of_matrix);
  add(state.tensor);
  for (const Weights& weights : state.networks) add(weights);
  return bytes;
}

inline std::string checkpoint_bytes(Chain& chain) {
  std::string bytes;
  for (const CheckpointField& field : chain.checkpoint_fields())
    if (field.rows != nullptr) {
      bytes += bytes_of(*field.rows);
    } else {
      if (field.make_room) bytes.append(reinterpret_cast<const char*>(&field.bytes), sizeof field.bytes);
      bytes.append(static_cast<const char*>(field.data), field.bytes);
    }
  return bytes;
}

// As after `steps` steps, when it carried these.
inline void restore(Chain& chain, const std::string& bytes, std::uint32_t steps) {
  const char* at = bytes.data();
  const auto take = [&](void* to, std::size_t size) {
    std::copy_n(at, size, static_cast<char*>(to));
    at += size;
  };
  for (const CheckpointField& field : chain.checkpoint_fields()) {
    if (field.make_room) {
      std::size_t bytes_of_field = 0;
      take(&bytes_of_field, sizeof bytes_of_field);
      take(field.make_room(bytes_of_field), bytes_of_field);
      continue;
    }
    if (field.rows == nullptr) {
      take(field.data, field.bytes);
      continue;
    }
    std::vector<std::int64_t> values(field.rows->rows() * field.rows->columns());
    take(values.data(), values.size() * sizeof(std::int64_t));
    field.rows->write({0, field.rows->rows()}, values.data());
  }
  chain.restore(steps);
}

}  // namespace ztp::test
