// The variables of a kept draw. Code that writes, reads or averages draws goes through this list.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/layout_options.hpp"
#include "ztp/options.hpp"
#include "ztp/read.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// A variable of draws.nc, and its place in the record of a draw, which is all float32.
struct DrawVariable {
  enum class Kind { weight, p, column, learned, factor };
  Kind kind = Kind::weight;
  // Of weight and p 0 of the tensor, m of network m from 1; of columns of components the mode; of what is learned,
  // which one; of a factor its matrix.
  std::size_t index = 0;
  std::string name;          // in draws.nc
  std::uint64_t offset = 0;  // of its first number
  std::size_t rows = 1;      // n of a factor
  std::size_t columns = 1;   // P of a factor and of the weights of a network; R of lambda; 1 of what is learned
  // Whose columns these are: of a factor, and of the weights of a network.
  std::optional<std::size_t> matrix = std::nullopt;

  bool packed = false;  // rounded, in half the room (store/packed.hpp)

  std::uint64_t floats() const { return std::uint64_t{rows} * columns; }
  std::vector<std::size_t> shape() const;  // rows x columns, columns or nothing
  // It is written and read so many rows at a time: some 4 MiB of floats, and in draws.nc a chunk.
  std::size_t rows_of_a_slab() const;
};

// Factor matrices with fewer numbers are stored as they are, and so are those of rivals.
inline constexpr std::uint64_t fewest_packed = 1 << 20;

class DrawLayout {
 public:
  // names: of the modes; networks: the mode of each.
  DrawLayout(FactorLayout of_model, const FitOptions& complete, const std::vector<std::string>& names,
             const std::vector<std::size_t>& networks);

  FactorLayout factors;                 // of the model
  std::size_t chains = 0;               // at most
  std::vector<std::string> learned;     // names of the learned hyperparameters, in the order of learned_values
  std::vector<std::string> dimensions;  // of draws.nc: the modes
  std::string component;                // likewise, the components: entries of a core where these share columns
  std::vector<std::string> columns;     // likewise, the columns of each factor matrix
  // In the order of draws.log: lambda and p (of a rival the prior's precision, tau), columns of components in each mode
  // (from 1; none in CP), beta and h of each network, learned hyperparameters, u of each factor matrix that is drawn,
  // by the name of the first mode that uses it.
  std::vector<DrawVariable> variables;

  const DrawVariable& variable(DrawVariable::Kind kind, std::size_t index) const;
  std::uint64_t floats() const { return variables.back().offset + variables.back().floats(); }
  std::uint64_t bytes() const { return sizeof(float) * floats(); }  // in memory

 private:
  void name_axes();
  void add(DrawVariable::Kind kind, std::size_t index, const std::string& name, std::size_t rows, std::size_t columns,
           std::optional<std::size_t> matrix = std::nullopt);
};

std::vector<ModeSize> sizes_of_modes(const Dataset& data);
DrawLayout draw_layout(const FitOptions& complete, const Dataset& data);
DrawLayout draw_layout(const RunInfo& info);

// Valid and distinct netCDF names for these names. Names of modes also avoid the names of variables.
std::vector<std::string> netcdf_names(const std::vector<std::string>& wanted, bool of_modes = true);

}  // namespace ztp
