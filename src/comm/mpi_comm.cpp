#include "comm/mpi_comm.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "base/errors.hpp"
#include "base/shared_library.hpp"

namespace ztp::mpi {
namespace {

class MpiComm final : public Comm {
 public:
  MpiComm(const Api& api, void* comm, bool is_part) : api_(api), comm_(comm), is_part_(is_part) {
    api_.place(comm_, &rank_, &size_);
  }
  ~MpiComm() override {
    if (is_part_) api_.release(comm_);
  }
  MpiComm(const MpiComm&) = delete;
  MpiComm& operator=(const MpiComm&) = delete;

  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return size_; }

  void barrier() override { check(api_.barrier(comm_), "barrier"); }
  void broadcast(void* data, std::size_t bytes, std::size_t root) override {
    check_root(root);
    check(api_.broadcast(comm_, data, bytes, root), "broadcast");
  }
  void add_up(std::int64_t* values, std::size_t count) override {
    bytes_sent_ += count * sizeof *values;
    check(api_.add_up(comm_, values, count), "add_up");
  }
  void largest(std::int64_t* values, std::size_t count) override {
    bytes_sent_ += count * sizeof *values;
    check(api_.largest(comm_, values, count), "largest");
  }

  std::vector<std::vector<std::byte>> all_gather(const void* data, std::size_t bytes) override {
    const std::vector<std::uint64_t> sizes = share_size(bytes);
    std::vector<std::vector<std::byte>> result(size_);
    bytes_sent_ += bytes;
    check(api_.all_gather(comm_, data, sizes.data(), room_for(sizes, result).data()), "all_gather");
    return result;
  }
  std::vector<std::vector<std::byte>> gather(const void* data, std::size_t bytes, std::size_t root) override {
    check_root(root);
    const std::vector<std::uint64_t> sizes = share_size(bytes);
    std::vector<std::vector<std::byte>> result(rank_ == root ? size_ : 0);
    check(api_.gather(comm_, data, sizes.data(), room_for(sizes, result).data(), root), "gather");
    return result;
  }

  void exchange_sizes(const std::uint64_t* to_each, std::uint64_t* from_each) override {
    check(api_.exchange_sizes(comm_, to_each, from_each), "exchange_sizes");
  }
  void begin_exchange(const void* send, const std::uint64_t* bytes_to_each, void* receive,
                      const std::uint64_t* bytes_from_each) override {
    if (exchanging_) throw std::logic_error("a new exchange began before the last one ended");
    if (bytes_to_each[rank_] != bytes_from_each[rank_])
      throw std::logic_error("a rank must send itself as many bytes as it receives from itself");
    exchanging_ = true;
    for (std::size_t rank = 0; rank < size_; ++rank) bytes_sent_ += rank == rank_ ? 0 : bytes_to_each[rank];
    check(api_.begin_exchange(comm_, send, bytes_to_each, receive, bytes_from_each), "exchange");
  }
  void end_exchange() override {
    exchanging_ = false;
    check(api_.end_exchange(comm_), "exchange");
  }
  bool exchange_arrived() override {
    int arrived = 0;
    check(api_.exchange_arrived(comm_, &arrived), "exchange");
    return arrived != 0;
  }

  std::unique_ptr<Comm> split(std::size_t group) override {
    void* part = nullptr;
    check(api_.split(comm_, group, &part), "split");
    return std::make_unique<MpiComm>(api_, part, true);
  }

  void request_stop() override { check(api_.request_stop(), "request_stop"); }
  bool stop_requested() override {
    int requested = 0;
    check(api_.stop_requested(&requested), "stop_requested");
    return requested != 0;
  }

  [[noreturn]] void abort(int exit_code) override {
    std::fflush(nullptr);
    api_.abort(exit_code);
    std::_Exit(exit_code);
  }

 private:
  void check(int failed, const char* operation) const {
    if (failed != 0)
      throw io_error("communication between ranks failed in {} on rank {} of {}: {}", operation, rank_, size_,
                     api_.error());
  }
  void check_root(std::size_t root) const {
    if (root >= size_) throw std::logic_error("the root is not a rank of this job");
  }
  std::vector<std::uint64_t> share_size(std::size_t bytes) const {
    std::vector<std::uint64_t> sizes(size_);
    check(api_.share_size(comm_, bytes, sizes.data()), "share_size");
    return sizes;
  }
  static std::vector<void*> room_for(const std::vector<std::uint64_t>& sizes,
                                     std::vector<std::vector<std::byte>>& result) {
    std::vector<void*> room(result.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i].resize(sizes[i]);
      room[i] = result[i].data();
    }
    return room;
  }

  const Api& api_;
  void* comm_;
  bool is_part_;  // else it is the whole job, which Api::finish ends
  std::size_t rank_ = 0, size_ = 1;
  bool exchanging_ = false;
};

}  // namespace

const Api& library() {
  static const LoadedApi<Api> loaded = load_api<Api>("libztp_mpi.so", "ztp_mpi_api", api_version, "make mpi");
  if (loaded.api == nullptr)
    throw config_error(
        "this process was started by an MPI launcher, but {}, where Open MPI's development package (libopenmpi-dev) is "
        "installed, or start the program without the launcher",
        loaded.missing);
  return *loaded.api;
}

std::unique_ptr<Comm> make_comm(const Api& api, void* world) {
  return std::make_unique<MpiComm>(api, world, false);
}

}  // namespace ztp::mpi
