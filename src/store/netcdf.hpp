// A thin, checked layer over the netCDF C library: every failure is an Error that names the file.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/file.hpp"

namespace ztp {

class NetcdfFile {
 public:
  static NetcdfFile create(const std::string& path) { return NetcdfFile(path, true); }  // netCDF-4
  static NetcdfFile open(const std::string& path) { return NetcdfFile(path, false); }   // for reading
  NetcdfFile(const NetcdfFile&) = delete;
  NetcdfFile& operator=(const NetcdfFile&) = delete;
  ~NetcdfFile();
  void close();
  const std::string& path() const { return path_; }

  enum class Type { floats, doubles, integers, indices, strings };  // integers: int64; indices: int32
  struct Variable {
    int group = -1, id = -1;
  };
  // A block of a variable: where it begins along each dimension, and how far it reaches.
  struct Slab {
    std::vector<std::size_t> start, count;
  };

  int add_group(const std::string& name);
  int add_dimension(int group, const std::string& name, std::size_t size);
  // chunk: sizes along each dimension, or empty for contiguous. Floats that are never written read as NaN, and take no
  // room in a chunked variable. Those that are packed (packed.hpp) are written by put_chunk.
  Variable add_variable(int group, const std::string& name, Type type, const std::vector<int>& dimensions,
                        const std::vector<std::size_t>& chunk = {}, bool packed = false);
  void add_attribute(int group, const std::string& name, const std::string& text);  // group -1: of the file
  void add_attribute(int group, const std::string& name, std::uint64_t number);

  // The library converts numbers to and from the type of the variable.
  void put(Variable variable, const Slab& slab, const float* values);
  void put(Variable variable, const Slab& slab, const double* values);
  void put(Variable variable, const Slab& slab, const std::int64_t* values);
  void put(Variable variable, const Slab& slab, const std::uint32_t* values);
  // Writes a packed chunk as it is. start: of its first value.
  void put_chunk(Variable variable, const std::vector<std::size_t>& start, const std::vector<std::byte>& bytes);
  // A variable of one dimension, with its values.
  void add_list(int group, const std::string& name, int dimension, const std::vector<std::int64_t>& values);
  void add_list(int group, const std::string& name, int dimension, const std::vector<double>& values);
  void add_list(int group, const std::string& name, int dimension, const std::vector<std::string>& values);

  int group(const std::string& name) const;
  Variable variable(int group, const std::string& name) const;
  std::vector<std::size_t> shape(Variable variable) const;
  // Where a chunk of a packed variable is in the file; empty, if it was never written.
  Extent chunk(Variable variable, const std::vector<std::size_t>& start) const;
  void get(Variable variable, const Slab& slab, float* values) const;
  void get(Variable variable, const Slab& slab, double* values) const;
  void get(Variable variable, const Slab& slab, std::int64_t* values) const;

 private:
  NetcdfFile(std::string path, bool writes);
  // Calls a function of the library, and checks what it returns.
  template <class Function, class... Arguments>
  void call(Function function, Arguments... arguments) const;

  std::string path_;
  int id_ = -1;
  std::int64_t hdf5_file_ = -1;  // HDF5's number of it, which is its own even if the file is open twice
  bool writes_;
};

}  // namespace ztp
