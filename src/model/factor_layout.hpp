// The shape of the model: which factor matrix each mode uses, how large each matrix is, and which column of it a
// component uses. Everything that holds, draws, stores or shows factors goes through this type.
//   CP            a matrix for each mode, as many columns as components, component r uses column r: nothing is stored
//   tied modes    two modes that use one matrix, as both ends of the edges of a network do
//   shared columns   components that use the same column of a matrix (a sparse Tucker core)
//   one-hot mode  its matrix is the identity: a component belongs to one entity of it
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ztp {

class FactorLayout {
 public:
  struct Size {
    std::size_t rows = 0;     // n: entities
    std::size_t columns = 0;  // P
  };

  FactorLayout() = default;
  // In general. `column`: for each mode, the column of each component; empty: component r uses column r everywhere.
  // Throws Error (config) if a mode uses a matrix or a component a column that is not there, or no mode uses a matrix.
  FactorLayout(std::vector<std::size_t> matrix_of_mode, std::vector<Size> sizes, std::size_t components,
               std::vector<std::vector<std::uint32_t>> column = {});
  // CP with R components for modes of these sizes.
  static FactorLayout cp(const std::vector<std::uint32_t>& sizes, std::size_t R);
  // The pairs of a network: both ends use one matrix, and each of its columns is a component.
  static FactorLayout pairs(std::size_t rows, std::size_t columns);

  std::size_t modes() const { return matrix_of_mode_.size(); }
  std::size_t components() const { return components_; }
  std::size_t matrices() const { return sizes_.size(); }

  std::size_t matrix(std::size_t k) const { return matrix_of_mode_[k]; }  // that mode k uses
  const Size& size(std::size_t f) const { return sizes_[f]; }             // of matrix f
  const Size& size_of_mode(std::size_t k) const { return sizes_[matrix_of_mode_[k]]; }
  std::size_t first_mode(std::size_t f) const;  // of those that use matrix f
  std::size_t most_columns() const;

  // The column that component r uses in the matrix of mode k.
  std::size_t column(std::size_t k, std::size_t r) const { return column_.empty() ? r : column_[k][r]; }
  // Whether component r uses column r in every mode, as in CP.
  bool columns_are_components() const { return column_.empty(); }
  // Of all components, if they are not: R columns.
  std::span<const std::uint32_t> columns_of_mode(std::size_t k) const { return column_[k]; }
  // For each column of the matrix of mode k, the sum of these numbers over the components that use it.
  std::vector<double> column_sums(std::size_t k, const std::vector<double>& of_components) const;
  // The same, to be changed. Each must stay below the number of columns.
  std::span<std::uint32_t> columns_of_mode(std::size_t k) { return column_[k]; }

  // The same with another number of rows of each matrix.
  FactorLayout with_rows(const std::vector<std::size_t>& rows) const;

  // The same with a matrix for each mode, where modes shared one.
  FactorLayout untied() const;

  // Makes the matrix of mode k the identity; no other mode may use it.
  void make_one_hot(std::size_t k);
  bool is_one_hot(std::size_t f) const { return !one_hot_.empty() && one_hot_[f]; }  // matrix f
  // The first mode whose matrix is the identity; modes(), if there is none.
  std::size_t one_hot_mode() const;
  // The other mode that uses the matrix of mode k; k itself, if there is none.
  std::size_t tied_mode(std::size_t k) const;

 private:
  std::size_t components_ = 0;
  std::vector<std::size_t> matrix_of_mode_;
  std::vector<Size> sizes_;
  std::vector<std::vector<std::uint32_t>> column_;  // [k][r]; empty for CP
  std::vector<bool> one_hot_;                       // of each matrix; empty: none is
};

}  // namespace ztp
