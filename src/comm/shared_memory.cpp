#include "comm/shared_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace ztp {
namespace {

// Where the first rank has it, and what is written there: a file of that name may be another one on another machine.
struct Address {
  std::int64_t process = 0;
  std::int64_t file = -1;
  std::array<std::uint64_t, 2> mark{};
};

class File {
 public:
  explicit File(int number) : number_(number) {}
  ~File() {
    if (number_ >= 0) close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

bool allowed() {
  const char* const value = std::getenv("ZTP_SHARED_MEMORY");
  return value == nullptr || std::string_view(value) != "0";
}

int create(std::size_t bytes, Address& address) {
  const int file = memfd_create("ztp", MFD_CLOEXEC);
  if (file < 0) return -1;
  address = {getpid(), file, {}};
  if (getrandom(address.mark.data(), sizeof address.mark, 0) == sizeof address.mark &&
      ftruncate(file, static_cast<off_t>(bytes)) == 0 &&
      pwrite(file, address.mark.data(), sizeof address.mark, 0) == sizeof address.mark)
    return file;
  close(file);
  address.file = -1;
  return -1;
}

int open_that_of(const Address& address, std::size_t bytes) {
  if (address.file < 0) return -1;
  const std::string path = fmt::format("/proc/{}/fd/{}", address.process, address.file);
  struct stat is {};
  if (stat(path.c_str(), &is) != 0 || !S_ISREG(is.st_mode) || static_cast<std::size_t>(is.st_size) != bytes) return -1;
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  Address found;
  if (file >= 0 && pread(file, found.mark.data(), sizeof found.mark, 0) == sizeof found.mark &&
      found.mark == address.mark)
    return file;
  if (file >= 0) close(file);
  return -1;
}

void* map(int file, std::size_t bytes) {
  if (file < 0) return nullptr;
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) return nullptr;
#ifdef MADV_HUGEPAGE
  madvise(data, bytes, MADV_HUGEPAGE);  // only a hint
#endif
  return data;
}

}  // namespace

std::unique_ptr<SharedMemory> SharedMemory::make(Comm& comm, std::size_t bytes) {
  Address address;
  bytes = std::max(bytes, sizeof address.mark);
  const bool first = comm.rank() == 0;
  const int made = first && allowed() ? create(bytes, address) : -1;
  comm.broadcast(&address, sizeof address, 0);
  const File file(first || !allowed() ? made : open_that_of(address, bytes));
  std::unique_ptr<SharedMemory> memory;
  if (void* const data = map(file.number(), bytes)) memory.reset(new SharedMemory(data, bytes));
  std::int64_t failed = memory == nullptr ? 1 : 0;
  comm.largest(&failed, 1);  // all have it open
  if (failed != 0) return nullptr;
  if (first) std::memset(memory->data(), 0, sizeof address.mark);
  comm.barrier();
  return memory;
}

SharedMemory::~SharedMemory() {
  munmap(data_, bytes_);
}

}  // namespace ztp
