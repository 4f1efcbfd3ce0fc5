#include "store/netcdf.hpp"

#include <fmt/format.h>
#include <hdf5.h>
#include <netcdf.h>
#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "ztp/error.hpp"

namespace ztp {
namespace {

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
  throw Error(ErrorKind::input, fmt::format("{}: damaged, or from another run ({})", path, nc_strerror(status)));
}

// HDF5 does not report why a write failed; errno may still tell.
[[noreturn]] void fail_writing(const std::string& path, int status) {
  const int reason = errno;
  for (const int known : {ENOSPC, EDQUOT, EFBIG, EROFS, EACCES, EIO})
    if (reason == known) throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", path, std::strerror(reason)));
  throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", path, nc_strerror(status)));
}

std::vector<hid_t> open_objects(hid_t file, unsigned kind) {
  const ssize_t count = H5Fget_obj_count(file, kind);
  std::vector<hid_t> ids(count > 0 ? static_cast<std::size_t>(count) : 0);
  if (!ids.empty()) H5Fget_obj_ids(file, kind, ids.size(), ids.data());
  return ids;
}

constexpr nc_type types_in_file[] = {NC_FLOAT, NC_DOUBLE, NC_INT64, NC_INT, NC_STRING};  // as NetcdfFile::Type

}  // namespace

template <class Function, class... Arguments>
void NetcdfFile::call(Function function, Arguments... arguments) const {
  const NetcdfLock lock;
  const int status = function(arguments...);
  if (status == NC_NOERR) return;
  if (writes_) fail_writing(path_, status);
  fail(path_, status);
}

NetcdfFile::NetcdfFile(std::string path, bool writes) : path_(std::move(path)), writes_(writes) {
  // Chunks are written and read once, as a whole: a cache would only waste memory.
  call(nc_set_chunk_cache, std::size_t{1} << 16, std::size_t{1009}, 0.75f);
  call([&] {
    const std::vector<hid_t> before = open_objects(H5F_OBJ_ALL, H5F_OBJ_FILE);
    const int status =
        writes ? nc_create(path_.c_str(), NC_NETCDF4 | NC_CLOBBER, &id_) : nc_open(path_.c_str(), NC_NOWRITE, &id_);
    for (const hid_t file : open_objects(H5F_OBJ_ALL, H5F_OBJ_FILE))
      if (std::find(before.begin(), before.end(), file) == before.end()) hdf5_file_ = file;
    return status;
  });
}

NetcdfFile::~NetcdfFile() {
  if (id_ < 0) return;
  const NetcdfLock lock;
  nc_close(id_);
}

void NetcdfFile::close() {
  call(nc_close, std::exchange(id_, -1));
}

int NetcdfFile::add_group(const std::string& name) {
  int group = -1;
  call(nc_def_grp, id_, name.c_str(), &group);
  return group;
}

int NetcdfFile::add_dimension(int group, const std::string& name, std::size_t size) {
  int dimension = -1;
  call(nc_def_dim, group, name.c_str(), size, &dimension);
  return dimension;
}

NetcdfFile::Variable NetcdfFile::add_variable(int group, const std::string& name, Type type,
                                              const std::vector<int>& dimensions, const std::vector<std::size_t>& chunk,
                                              bool packed) {
  Variable variable{group, -1};
  const nc_type type_in_file = types_in_file[static_cast<std::size_t>(type)];
  call(nc_def_var, group, name.c_str(), type_in_file, static_cast<int>(dimensions.size()), dimensions.data(),
       &variable.id);
  if (!chunk.empty()) call(nc_def_var_chunking, group, variable.id, NC_CHUNKED, chunk.data());
  if (packed) call(nc_def_var_deflate, group, variable.id, 1, 1, 1);  // with shuffle, deflate of level 1
  const float none = std::numeric_limits<float>::quiet_NaN();
  if (type == Type::floats) call(nc_def_var_fill, group, variable.id, NC_FILL, &none);
  return variable;
}

void NetcdfFile::add_attribute(int group, const std::string& name, const std::string& text) {
  call(nc_put_att_text, group < 0 ? id_ : group, NC_GLOBAL, name.c_str(), text.size(), text.data());
}

void NetcdfFile::add_attribute(int group, const std::string& name, std::uint64_t number) {
  const unsigned long long value = number;
  call(nc_put_att_ulonglong, group < 0 ? id_ : group, NC_GLOBAL, name.c_str(), NC_UINT64, std::size_t{1}, &value);
}

void NetcdfFile::put(Variable variable, const Slab& slab, const float* values) {
  call(nc_put_vara_float, variable.group, variable.id, slab.start.data(), slab.count.data(), values);
}
void NetcdfFile::put(Variable variable, const Slab& slab, const double* values) {
  call(nc_put_vara_double, variable.group, variable.id, slab.start.data(), slab.count.data(), values);
}
void NetcdfFile::put(Variable variable, const Slab& slab, const std::int64_t* values) {
  call(nc_put_vara_long, variable.group, variable.id, slab.start.data(), slab.count.data(), values);
}
void NetcdfFile::put(Variable variable, const Slab& slab, const std::uint32_t* values) {
  call(nc_put_vara_uint, variable.group, variable.id, slab.start.data(), slab.count.data(), values);
}

namespace {

// HDF5's name of what has this number.
std::string name_of(hid_t id) {
  const ssize_t length = H5Iget_name(id, nullptr, std::size_t{0});
  std::string text(length > 0 ? static_cast<std::size_t>(length) : 0, ' ');
  if (!text.empty()) H5Iget_name(id, text.data(), text.size() + 1);
  return text;
}

// As HDF5 names it; empty, if the netCDF library fails.
std::string path_in_file(NetcdfFile::Variable variable) {
  char name[NC_MAX_NAME + 1];
  std::size_t length = 0;
  if (nc_inq_grpname_full(variable.group, &length, nullptr) != NC_NOERR) return "";
  std::string path(length, ' ');
  if (nc_inq_grpname_full(variable.group, &length, path.data()) != NC_NOERR) return "";
  if (nc_inq_varname(variable.group, variable.id, name) != NC_NOERR) return "";
  return path + (path == "/" ? "" : "/") + name;
}

// HDF5's number of a variable; -1, if there is none. Valid only while the caller has the lock. The netCDF library does
// not tell it, but HDF5 lists what is open in a file.
hid_t dataset_of(hid_t file, NetcdfFile::Variable variable) {
  const std::string path = path_in_file(variable);
  if (file < 0 || path.empty()) return -1;
  for (const hid_t dataset : open_objects(file, H5F_OBJ_DATASET | H5F_OBJ_LOCAL))
    if (name_of(dataset) == path) return dataset;
  return -1;
}

}  // namespace

void NetcdfFile::put_chunk(Variable variable, const std::vector<std::size_t>& start,
                           const std::vector<std::byte>& bytes) {
  const std::vector<hsize_t> offset(start.begin(), start.end());
  call([&] {
    const hid_t dataset = dataset_of(hdf5_file_, variable);
    if (dataset < 0) return NC_EHDFERR;
    return H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, offset.data(), bytes.size(), bytes.data()) < 0 ? NC_EHDFERR
                                                                                                  : NC_NOERR;
  });
}

Extent NetcdfFile::chunk(Variable variable, const std::vector<std::size_t>& start) const {
  const std::vector<hsize_t> offset(start.begin(), start.end());
  unsigned skipped = 0;
  haddr_t address = HADDR_UNDEF;
  hsize_t bytes = 0;
  call([&] {
    const hid_t dataset = dataset_of(hdf5_file_, variable);
    if (dataset < 0) return NC_EHDFERR;
    return H5Dget_chunk_info_by_coord(dataset, offset.data(), &skipped, &address, &bytes) < 0 ? NC_EHDFERR : NC_NOERR;
  });
  if (address == HADDR_UNDEF || skipped != 0) return {};
  return {address, address + bytes};
}

void NetcdfFile::add_list(int group, const std::string& name, int dimension, const std::vector<std::int64_t>& values) {
  put(add_variable(group, name, Type::integers, {dimension}), {{0}, {values.size()}}, values.data());
}
void NetcdfFile::add_list(int group, const std::string& name, int dimension, const std::vector<double>& values) {
  put(add_variable(group, name, Type::doubles, {dimension}), {{0}, {values.size()}}, values.data());
}
void NetcdfFile::add_list(int group, const std::string& name, int dimension, const std::vector<std::string>& values) {
  std::vector<const char*> pointers;
  for (const std::string& value : values) pointers.push_back(value.c_str());
  call(nc_put_var_string, group, add_variable(group, name, Type::strings, {dimension}).id, pointers.data());
}

int NetcdfFile::group(const std::string& name) const {
  int group = -1;
  call(nc_inq_grp_ncid, id_, name.c_str(), &group);
  return group;
}

NetcdfFile::Variable NetcdfFile::variable(int group, const std::string& name) const {
  Variable variable{group, -1};
  call(nc_inq_varid, group, name.c_str(), &variable.id);
  return variable;
}

std::vector<std::size_t> NetcdfFile::shape(Variable variable) const {
  int count = 0;
  call(nc_inq_varndims, variable.group, variable.id, &count);
  std::vector<int> dimensions(static_cast<std::size_t>(count));
  call(nc_inq_vardimid, variable.group, variable.id, dimensions.data());
  std::vector<std::size_t> sizes(dimensions.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) call(nc_inq_dimlen, variable.group, dimensions[i], &sizes[i]);
  return sizes;
}

void NetcdfFile::get(Variable variable, const Slab& slab, float* values) const {
  call(nc_get_vara_float, variable.group, variable.id, slab.start.data(), slab.count.data(), values);
}
void NetcdfFile::get(Variable variable, const Slab& slab, double* values) const {
  call(nc_get_vara_double, variable.group, variable.id, slab.start.data(), slab.count.data(), values);
}
void NetcdfFile::get(Variable variable, const Slab& slab, std::int64_t* values) const {
  call(nc_get_vara_long, variable.group, variable.id, slab.start.data(), slab.count.data(), values);
}

}  // namespace ztp
