// A thin, checked layer over the netCDF C library: every failure is an Error that names the file.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ztp {

class NetcdfFile {
 public:
  static NetcdfFile create(const std::string& path);  // netCDF-4
  static NetcdfFile open(const std::string& path);    // for reading
  NetcdfFile(NetcdfFile&& other) noexcept;
  NetcdfFile(const NetcdfFile&) = delete;
  NetcdfFile& operator=(const NetcdfFile&) = delete;
  NetcdfFile& operator=(NetcdfFile&&) = delete;
  ~NetcdfFile();
  void close();

  int add_group(const std::string& name);
  int add_dimension(int group, const std::string& name, std::size_t size);
  // chunk: sizes along each dimension, or empty for contiguous.
  int add_floats(int group, const std::string& name, const std::vector<int>& dimensions,
                 const std::vector<std::size_t>& chunk = {});
  int add_doubles(int group, const std::string& name, const std::vector<int>& dimensions);
  int add_integers(int group, const std::string& name, const std::vector<int>& dimensions);
  int add_strings(int group, const std::string& name, const std::vector<int>& dimensions);
  void add_attribute(int group, const std::string& name, const std::string& text);

  void put(int group, int variable, const std::vector<std::size_t>& start, const std::vector<std::size_t>& count,
           const float* values);
  void put(int group, int variable, const std::vector<std::size_t>& start, const std::vector<std::size_t>& count,
           const double* values);
  void put(int group, int variable, const std::vector<std::size_t>& start, const std::vector<std::size_t>& count,
           const std::int64_t* values);
  void put_strings(int group, int variable, const std::vector<std::string>& values);

  int group(const std::string& name) const;
  int variable(int group, const std::string& name) const;
  std::vector<std::size_t> shape(int group, int variable) const;
  void get(int group, int variable, const std::vector<std::size_t>& start, const std::vector<std::size_t>& count,
           float* values) const;
  void get(int group, int variable, const std::vector<std::size_t>& start, const std::vector<std::size_t>& count,
           double* values) const;
  void get(int group, int variable, const std::vector<std::size_t>& start, const std::vector<std::size_t>& count,
           std::int64_t* values) const;

 private:
  NetcdfFile(std::string path, int id, bool writes) : path_(std::move(path)), id_(id), writes_(writes) {}
  void check(int status) const;

  std::string path_;
  int id_ = -1;
  bool writes_ = false;
};

// The names of netCDF objects allow less than those of modes do: one for each, all different, and of modes none that a variable has.
std::vector<std::string> netcdf_names(const std::vector<std::string>& wanted, bool of_modes = true);

}  // namespace ztp
