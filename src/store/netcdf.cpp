#include "store/netcdf.hpp"

#include <fmt/format.h>
#include <hdf5.h>
#include <netcdf.h>
#include <pthread.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <mutex>

#include "ztp/error.hpp"

namespace ztp {
namespace {

using Slab = NetcdfFile::Slab;
using Variable = NetcdfFile::Variable;

std::mutex one_at_a_time;

// A lock around calls of the netCDF library, which is not thread-safe: several fits or posteriors may run in one
// process. It is also taken around a fork, or the child could never take it.
class NetcdfLock {
 public:
  NetcdfLock() : lock_(one_at_a_time) {
    static const int forks =
        pthread_atfork([] { one_at_a_time.lock(); }, [] { one_at_a_time.unlock(); }, [] { one_at_a_time.unlock(); });
    // HDF5's exit handler crashes after a failed write, and is not needed: files are closed before.
    static const int at_exit = H5dont_atexit();
    // HDF5 prints errors, even of calls that netCDF merely tries. This has to be switched off in every thread.
    thread_local const int prints = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    static_cast<void>(forks + at_exit + prints);
  }

 private:
  std::lock_guard<std::mutex> lock_;
};

[[noreturn]] void fail(const std::string& path, int status) {
  if (status > 0) throw Error(ErrorKind::io, fmt::format("{}: {}", path, nc_strerror(status)));
  throw Error(ErrorKind::input, fmt::format("{}: damaged, or not of this run ({})", path, nc_strerror(status)));
}

// HDF5 does not report why a write failed; errno may still tell.
[[noreturn]] void fail_writing(const std::string& path, int status) {
  const int reason = errno;
  for (const int known : {ENOSPC, EDQUOT, EFBIG, EROFS, EACCES, EIO})
    if (reason == known) throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", path, std::strerror(reason)));
  throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", path, nc_strerror(status)));
}

// Chunks are written and read once, as a whole: a cache would only waste memory.
void disable_chunk_cache() {
  nc_set_chunk_cache(1 << 16, 1009, 0.75f);
}

constexpr nc_type types_in_file[] = {NC_FLOAT, NC_DOUBLE, NC_INT64, NC_INT, NC_STRING};  // as NetcdfFile::Type

// Overloads for the functions of the library, which has one name per type.
int put_numbers(Variable v, const Slab& slab, const float* values) {
  return nc_put_vara_float(v.group, v.id, slab.start.data(), slab.count.data(), values);
}
int put_numbers(Variable v, const Slab& slab, const double* values) {
  return nc_put_vara_double(v.group, v.id, slab.start.data(), slab.count.data(), values);
}
int put_numbers(Variable v, const Slab& slab, const std::int64_t* values) {
  return nc_put_vara_longlong(v.group, v.id, slab.start.data(), slab.count.data(),
                              reinterpret_cast<const long long*>(values));
}
int get_numbers(Variable v, const Slab& slab, float* values) {
  return nc_get_vara_float(v.group, v.id, slab.start.data(), slab.count.data(), values);
}
int get_numbers(Variable v, const Slab& slab, double* values) {
  return nc_get_vara_double(v.group, v.id, slab.start.data(), slab.count.data(), values);
}
int get_numbers(Variable v, const Slab& slab, std::int64_t* values) {
  return nc_get_vara_longlong(v.group, v.id, slab.start.data(), slab.count.data(),
                              reinterpret_cast<long long*>(values));
}

}  // namespace

NetcdfFile NetcdfFile::create(const std::string& path) {
  const NetcdfLock lock;
  disable_chunk_cache();
  int id = -1;
  if (const int status = nc_create(path.c_str(), NC_NETCDF4 | NC_CLOBBER, &id); status != NC_NOERR)
    fail_writing(path, status);
  return NetcdfFile(path, id, true);
}

NetcdfFile NetcdfFile::open(const std::string& path) {
  const NetcdfLock lock;
  disable_chunk_cache();
  int id = -1;
  if (const int status = nc_open(path.c_str(), NC_NOWRITE, &id); status != NC_NOERR) fail(path, status);
  return NetcdfFile(path, id, false);
}

NetcdfFile::NetcdfFile(NetcdfFile&& other) noexcept
    : path_(std::move(other.path_)), id_(other.id_), writes_(other.writes_) {
  other.id_ = -1;
}

NetcdfFile::~NetcdfFile() {
  if (id_ < 0) return;
  const NetcdfLock lock;
  nc_close(id_);
}

void NetcdfFile::close() {
  const NetcdfLock lock;
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
  const NetcdfLock lock;
  int group = -1;
  check(nc_def_grp(id_, name.c_str(), &group));
  return group;
}

int NetcdfFile::add_dimension(int group, const std::string& name, std::size_t size) {
  const NetcdfLock lock;
  int dimension = -1;
  check(nc_def_dim(group, name.c_str(), size, &dimension));
  return dimension;
}

NetcdfFile::Variable NetcdfFile::add_variable(int group, const std::string& name, Type type,
                                              const std::vector<int>& dimensions,
                                              const std::vector<std::size_t>& chunk) {
  const NetcdfLock lock;
  Variable variable{group, -1};
  const int count = static_cast<int>(dimensions.size());
  const nc_type type_in_file = types_in_file[static_cast<std::size_t>(type)];
  check(nc_def_var(group, name.c_str(), type_in_file, count, dimensions.data(), &variable.id));
  if (!chunk.empty()) check(nc_def_var_chunking(group, variable.id, NC_CHUNKED, chunk.data()));
  const float none = std::numeric_limits<float>::quiet_NaN();
  if (type == Type::floats) check(nc_def_var_fill(group, variable.id, NC_FILL, &none));
  return variable;
}

void NetcdfFile::add_attribute(int group, const std::string& name, const std::string& text) {
  const NetcdfLock lock;
  check(nc_put_att_text(group < 0 ? id_ : group, NC_GLOBAL, name.c_str(), text.size(), text.data()));
}

void NetcdfFile::add_attribute(int group, const std::string& name, std::uint64_t number) {
  const NetcdfLock lock;
  const unsigned long long value = number;
  check(nc_put_att_ulonglong(group < 0 ? id_ : group, NC_GLOBAL, name.c_str(), NC_UINT64, 1, &value));
}

template <class Number>
void NetcdfFile::put(Variable variable, const Slab& slab, const Number* values) {
  const NetcdfLock lock;
  check(put_numbers(variable, slab, values));
}
template void NetcdfFile::put(Variable, const Slab&, const float*);
template void NetcdfFile::put(Variable, const Slab&, const double*);
template void NetcdfFile::put(Variable, const Slab&, const std::int64_t*);

void NetcdfFile::put_all(Variable variable, const std::vector<std::int64_t>& values) {
  put(variable, {{0}, {values.size()}}, values.data());
}

void NetcdfFile::put_all(Variable variable, const std::vector<std::string>& values) {
  const NetcdfLock lock;
  std::vector<const char*> pointers;
  for (const std::string& value : values) pointers.push_back(value.c_str());
  check(nc_put_var_string(variable.group, variable.id, pointers.data()));
}

int NetcdfFile::group(const std::string& name) const {
  const NetcdfLock lock;
  int group = -1;
  check(nc_inq_grp_ncid(id_, name.c_str(), &group));
  return group;
}

NetcdfFile::Variable NetcdfFile::variable(int group, const std::string& name) const {
  const NetcdfLock lock;
  Variable variable{group, -1};
  check(nc_inq_varid(group, name.c_str(), &variable.id));
  return variable;
}

std::vector<std::size_t> NetcdfFile::shape(Variable variable) const {
  const NetcdfLock lock;
  int count = 0;
  check(nc_inq_varndims(variable.group, variable.id, &count));
  std::vector<int> dimensions(static_cast<std::size_t>(count));
  check(nc_inq_vardimid(variable.group, variable.id, dimensions.data()));
  std::vector<std::size_t> sizes;
  for (const int dimension : dimensions) {
    std::size_t size = 0;
    check(nc_inq_dimlen(variable.group, dimension, &size));
    sizes.push_back(size);
  }
  return sizes;
}

template <class Number>
void NetcdfFile::get(Variable variable, const Slab& slab, Number* values) const {
  const NetcdfLock lock;
  check(get_numbers(variable, slab, values));
}
template void NetcdfFile::get(Variable, const Slab&, float*) const;
template void NetcdfFile::get(Variable, const Slab&, double*) const;
template void NetcdfFile::get(Variable, const Slab&, std::int64_t*) const;

}  // namespace ztp
