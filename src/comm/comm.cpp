#include "comm/comm.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "base/errors.hpp"
#include "base/memory.hpp"
#include "base/pool.hpp"
#include "comm/launch.hpp"
#include "comm/mpi_comm.hpp"

namespace ztp {
namespace {

class SingleComm final : public Comm {
 public:
  explicit SingleComm(std::shared_ptr<std::atomic<bool>> stop) : stop_(std::move(stop)) {}

  std::size_t rank() const override { return 0; }
  std::size_t size() const override { return 1; }
  void barrier() override {}
  void broadcast(void*, std::size_t, std::size_t root) override { check_root(root); }
  void add_up(std::int64_t*, std::size_t) override {}
  void largest(std::int64_t*, std::size_t) override {}

  std::vector<std::vector<std::byte>> all_gather(const void* data, std::size_t bytes) override {
    const auto* const first = static_cast<const std::byte*>(data);
    return {std::vector<std::byte>(first, first + bytes)};
  }
  std::vector<std::vector<std::byte>> gather(const void* data, std::size_t bytes, std::size_t root) override {
    check_root(root);
    return all_gather(data, bytes);
  }

  void exchange_sizes(const std::uint64_t* to_each, std::uint64_t* from_each) override { from_each[0] = to_each[0]; }
  void begin_exchange(const void* send, const std::uint64_t* bytes_to_each, void* receive,
                      const std::uint64_t* bytes_from_each) override {
    if (exchanging_) throw std::logic_error("a new exchange began before the last one ended");
    if (bytes_to_each[0] != bytes_from_each[0])
      throw std::logic_error("a rank must send itself as many bytes as it receives from itself");
    exchanging_ = true;
    if (bytes_to_each[0] > 0) std::memcpy(receive, send, bytes_to_each[0]);
  }
  void end_exchange() override { exchanging_ = false; }
  bool exchange_arrived() override { return true; }

  std::unique_ptr<Comm> split(std::size_t) override { return std::make_unique<SingleComm>(stop_); }

  void request_stop() override { *stop_ = true; }
  bool stop_requested() override { return *stop_; }

  [[noreturn]] void abort(int exit_code) override {
    std::fflush(nullptr);
    std::_Exit(exit_code);
  }

 private:
  static void check_root(std::size_t root) {
    if (root != 0) throw std::logic_error("the root is not a rank of this job");
  }

  std::shared_ptr<std::atomic<bool>> stop_;  // shared with the groups that were split off
  bool exchanging_ = false;
};

struct Job {
  std::unique_ptr<Comm> world = single_comm();
  const mpi::Api* mpi = nullptr;  // if it was started
};

Job& job() {
  static Job only;
  return only;
}

// A launcher of another MPI starts processes that do not find each other: each would do all of the work.
void check_size(const Launch& launch, const Comm& world, const mpi::Api& api) {
  if (launch.size == 0 || launch.size == world.size()) return;
  throw config_error(
      "the launcher started {} processes, but {}, with which libztp_mpi.so was built, sees {}: start the program with "
      "the launcher of {}",
      launch.size, api.name(), world.size(), api.name());
}

// Processes on one machine have its memory together, and those with the same cores have them together.
void share_machines(Comm& world) {
  std::string cores(sizeof(cpu_set_t), '\0');
  sched_getaffinity(0, cores.size(), reinterpret_cast<cpu_set_t*>(cores.data()));
  const std::string host = world.host();
  const auto of_all = [&](const std::string& mine) {
    const auto all = world.all_gather(mine.data(), mine.size());
    return static_cast<std::size_t>(std::count(all.begin(), all.end(), all[world.rank()]));
  };
  share_memory(of_all(host));
  share_cores(of_all(host + cores));
}

}  // namespace

std::string Comm::host() const {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "?";
  return name.data();
}

std::unique_ptr<Comm> single_comm() {
  return std::make_unique<SingleComm>(std::make_shared<std::atomic<bool>>(false));
}

bool launched_as_rank() {
  return read_launch().by_launcher;
}

void start_ranks() {
  const Launch launch = read_launch();
  if (job().mpi != nullptr || !launch.by_launcher || launch.size == 1) return;
  const mpi::Api& api = mpi::library();
  job().mpi = &api;
  try {
    void* world = nullptr;
    if (api.start(&world) != 0) throw config_error("MPI cannot be used: {}", api.error());
    std::unique_ptr<Comm> ranks = mpi::make_comm(api, world);
    check_size(launch, *ranks, api);
    share_machines(*ranks);
    job().world = std::move(ranks);
  } catch (...) {
    end_ranks();
    throw;
  }
}

void end_ranks() noexcept {
  if (job().mpi == nullptr) return;
  job().world = single_comm();
  job().mpi->finish();
  job().mpi = nullptr;
}

Comm& world() {
  return *job().world;
}

}  // namespace ztp
