#include "store/netcdf.hpp"

#include <fmt/format.h>
#include <netcdf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ztp/error.hpp"

namespace ztp {
namespace {

[[noreturn]] void fail(const std::string& path, int status) {
  if (status > 0) throw Error(ErrorKind::io, fmt::format("{}: {}", path, nc_strerror(status)));
  throw Error(ErrorKind::input, fmt::format("{}: damaged, or not of this run ({})", path, nc_strerror(status)));
}

// Of a failed write HDF5 says no more than that it failed; what the system said may still be in errno.
[[noreturn]] void fail_writing(const std::string& path, int status) {
  const int reason = errno;
  for (const int known : {ENOSPC, EDQUOT, EFBIG, EROFS, EACCES, EIO})
    if (reason == known) throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", path, std::strerror(reason)));
  throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", path, nc_strerror(status)));
}

// Chunks are written and read whole, once: caching them would only hold memory.
void keep_no_chunks() {
  nc_set_chunk_cache(1 << 16, 1009, 0.75f);
}

}  // namespace

NetcdfFile NetcdfFile::create(const std::string& path) {
  keep_no_chunks();
  int id = -1;
  if (const int status = nc_create(path.c_str(), NC_NETCDF4 | NC_CLOBBER, &id); status != NC_NOERR)
    fail_writing(path, status);
  return NetcdfFile(path, id, true);
}

NetcdfFile NetcdfFile::open(const std::string& path) {
  keep_no_chunks();
  int id = -1;
  if (const int status = nc_open(path.c_str(), NC_NOWRITE, &id); status != NC_NOERR) fail(path, status);
  return NetcdfFile(path, id, false);
}

NetcdfFile::NetcdfFile(NetcdfFile&& other) noexcept
    : path_(std::move(other.path_)), id_(other.id_), writes_(other.writes_) {
  other.id_ = -1;
}

NetcdfFile::~NetcdfFile() {
  if (id_ >= 0) nc_close(id_);
}

void NetcdfFile::close() {
  const int id = id_;
  id_ = -1;
  check(nc_close(id));
}

void NetcdfFile::check(int status) const {
  if (status == NC_NOERR) return;
  if (writes_) fail_writing(path_, status);
  fail(path_, status);
}

int NetcdfFile::add_group(const std::string& name) {
  int group = -1;
  check(nc_def_grp(id_, name.c_str(), &group));
  return group;
}

int NetcdfFile::add_dimension(int group, const std::string& name, std::size_t size) {
  int dimension = -1;
  check(nc_def_dim(group, name.c_str(), size, &dimension));
  return dimension;
}

int NetcdfFile::add_floats(int group, const std::string& name, const std::vector<int>& dimensions,
                           const std::vector<std::size_t>& chunk) {
  int variable = -1;
  check(nc_def_var(group, name.c_str(), NC_FLOAT, static_cast<int>(dimensions.size()), dimensions.data(), &variable));
  if (!chunk.empty()) check(nc_def_var_chunking(group, variable, NC_CHUNKED, chunk.data()));
  return variable;
}

int NetcdfFile::add_doubles(int group, const std::string& name, const std::vector<int>& dimensions) {
  int variable = -1;
  check(nc_def_var(group, name.c_str(), NC_DOUBLE, static_cast<int>(dimensions.size()), dimensions.data(), &variable));
  return variable;
}

int NetcdfFile::add_integers(int group, const std::string& name, const std::vector<int>& dimensions) {
  int variable = -1;
  check(nc_def_var(group, name.c_str(), NC_INT64, static_cast<int>(dimensions.size()), dimensions.data(), &variable));
  return variable;
}

int NetcdfFile::add_strings(int group, const std::string& name, const std::vector<int>& dimensions) {
  int variable = -1;
  check(nc_def_var(group, name.c_str(), NC_STRING, static_cast<int>(dimensions.size()), dimensions.data(), &variable));
  return variable;
}

void NetcdfFile::add_attribute(int group, const std::string& name, const std::string& text) {
  check(nc_put_att_text(group < 0 ? id_ : group, NC_GLOBAL, name.c_str(), text.size(), text.data()));
}

void NetcdfFile::put(int group, int variable, const std::vector<std::size_t>& start,
                     const std::vector<std::size_t>& count, const float* values) {
  check(nc_put_vara_float(group, variable, start.data(), count.data(), values));
}

void NetcdfFile::put(int group, int variable, const std::vector<std::size_t>& start,
                     const std::vector<std::size_t>& count, const double* values) {
  check(nc_put_vara_double(group, variable, start.data(), count.data(), values));
}

void NetcdfFile::put(int group, int variable, const std::vector<std::size_t>& start,
                     const std::vector<std::size_t>& count, const std::int64_t* values) {
  const std::vector<std::size_t>& s = start;
  check(nc_put_vara_longlong(group, variable, s.data(), count.data(), reinterpret_cast<const long long*>(values)));
}

void NetcdfFile::put_strings(int group, int variable, const std::vector<std::string>& values) {
  std::vector<const char*> pointers;
  for (const std::string& value : values) pointers.push_back(value.c_str());
  check(nc_put_var_string(group, variable, pointers.data()));
}

int NetcdfFile::group(const std::string& name) const {
  int group = -1;
  check(nc_inq_grp_ncid(id_, name.c_str(), &group));
  return group;
}

int NetcdfFile::variable(int group, const std::string& name) const {
  int variable = -1;
  check(nc_inq_varid(group, name.c_str(), &variable));
  return variable;
}

std::vector<std::size_t> NetcdfFile::shape(int group, int variable) const {
  int count = 0;
  check(nc_inq_varndims(group, variable, &count));
  std::vector<int> dimensions(static_cast<std::size_t>(count));
  check(nc_inq_vardimid(group, variable, dimensions.data()));
  std::vector<std::size_t> sizes;
  for (const int dimension : dimensions) {
    std::size_t size = 0;
    check(nc_inq_dimlen(group, dimension, &size));
    sizes.push_back(size);
  }
  return sizes;
}

void NetcdfFile::get(int group, int variable, const std::vector<std::size_t>& start,
                     const std::vector<std::size_t>& count, float* values) const {
  check(nc_get_vara_float(group, variable, start.data(), count.data(), values));
}

void NetcdfFile::get(int group, int variable, const std::vector<std::size_t>& start,
                     const std::vector<std::size_t>& count, double* values) const {
  check(nc_get_vara_double(group, variable, start.data(), count.data(), values));
}

void NetcdfFile::get(int group, int variable, const std::vector<std::size_t>& start,
                     const std::vector<std::size_t>& count, std::int64_t* values) const {
  check(nc_get_vara_longlong(group, variable, start.data(), count.data(), reinterpret_cast<long long*>(values)));
}

std::vector<std::string> netcdf_names(const std::vector<std::string>& wanted, bool of_modes) {
  std::vector<std::string> names;
  for (const std::string& text : wanted) {
    std::string name;
    for (const char c : text) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
      name += plain ? c : '_';
    }
    if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name = "mode_" + name;
    for (const char* taken : {"chain", "draw", "component", "lambda", "p", "tau", "intercept"})
      if (of_modes && name == taken) name = "mode_" + name;
    for (const char* begin : {"u_", "beta_", "h_", "dirichlet_", "gamma_shape"})
      if (of_modes && name.starts_with(begin)) name = "mode_" + name;
    while (std::find(names.begin(), names.end(), name) != names.end()) name += fmt::format("_{}", names.size() + 1);
    names.push_back(name);
  }
  return names;
}

}  // namespace ztp
