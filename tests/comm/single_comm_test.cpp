// One process by itself, and what the environment tells of launchers.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "comm/comm.hpp"
#include "comm/launch.hpp"
#include "ztp/error.hpp"

namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

TEST(SingleComm, is_the_only_rank) {
  const std::unique_ptr<ztp::Comm> comm = ztp::single_comm();
  EXPECT_EQ(comm->rank(), 0u);
  EXPECT_EQ(comm->size(), 1u);
  EXPECT_FALSE(comm->host().empty());
  comm->barrier();
}

TEST(SingleComm, leaves_values_as_they_are) {
  const std::unique_ptr<ztp::Comm> comm = ztp::single_comm();
  std::vector<std::int64_t> values = {-5, 0, 7};
  comm->broadcast(values.data(), values.size() * sizeof values[0], 0);
  comm->add_up(values.data(), values.size());
  comm->largest(values.data(), values.size());
  EXPECT_EQ(values, (std::vector<std::int64_t>{-5, 0, 7}));
}

TEST(SingleComm, gathers_its_own_bytes) {
  const std::unique_ptr<ztp::Comm> comm = ztp::single_comm();
  const std::vector<std::vector<std::byte>> own = {bytes_of("abc")}, empty = {{}};
  EXPECT_EQ(comm->all_gather("abc", 3), own);
  EXPECT_EQ(comm->gather("abc", 3, 0), own);
  EXPECT_EQ(comm->all_gather(nullptr, 0), empty);
  EXPECT_THROW(comm->gather("abc", 3, 1), std::logic_error);
  EXPECT_THROW(comm->broadcast(nullptr, 0, 1), std::logic_error);
}

TEST(SingleComm, exchanges_with_itself) {
  const std::unique_ptr<ztp::Comm> comm = ztp::single_comm();
  const std::uint64_t to = 3, other = 2;
  std::uint64_t from = 0;
  comm->exchange_sizes(&to, &from);
  EXPECT_EQ(from, 3u);
  std::string received(3, ' ');
  comm->exchange("abc", &to, received.data(), &from);
  EXPECT_EQ(received, "abc");

  comm->begin_exchange("xyz", &to, received.data(), &from);
  EXPECT_TRUE(comm->exchange_arrived());
  EXPECT_THROW(comm->begin_exchange("xyz", &to, received.data(), &from), std::logic_error);
  comm->end_exchange();
  EXPECT_EQ(received, "xyz");
  EXPECT_THROW(comm->begin_exchange("xyz", &to, received.data(), &other), std::logic_error);

  const std::uint64_t none = 0;
  comm->exchange(nullptr, &none, nullptr, &none);
}

TEST(SingleComm, a_stop_is_seen_by_its_groups_and_by_no_other) {
  const std::unique_ptr<ztp::Comm> comm = ztp::single_comm(), other = ztp::single_comm();
  const std::unique_ptr<ztp::Comm> group = comm->split(3);
  EXPECT_EQ(group->size(), 1u);
  EXPECT_FALSE(comm->stop_requested());
  group->request_stop();
  EXPECT_TRUE(comm->stop_requested());
  EXPECT_TRUE(group->split(0)->stop_requested());
  EXPECT_FALSE(other->stop_requested());
}

TEST(SingleCommDeathTest, abort_ends_the_process) {
  EXPECT_EXIT(ztp::single_comm()->abort(42), testing::ExitedWithCode(42), "");
}

// Takes away whatever a launcher may have set, and brings it back.
class Launchers : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMI_PORT", "MPI_LOCALNRANKS", "PMIX_RANK", "SLURM_PROCID",
          "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}) {
      if (const char* value = std::getenv(name)) was_[name] = value;
      unsetenv(name);
      names_.push_back(name);
    }
  }
  void TearDown() override {
    for (const std::string& name : names_) unsetenv(name.c_str());
    for (const auto& [name, value] : was_) setenv(name.c_str(), value.c_str(), 1);
  }
  static ztp::Launch launch_with(const std::map<std::string, std::string>& environment) {
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    const ztp::Launch launch = ztp::read_launch();
    EXPECT_EQ(launch.by_launcher, ztp::launched_as_rank());
    for (const auto& [name, value] : environment) unsetenv(name.c_str());
    return launch;
  }
  // The size of the job, or -1 if no launcher started it.
  static long size_with(const std::map<std::string, std::string>& environment) {
    const ztp::Launch launch = launch_with(environment);
    return launch.by_launcher ? static_cast<long>(launch.size) : -1;
  }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::string> was_;
};

TEST_F(Launchers, are_known_by_the_environment) {
  EXPECT_EQ(size_with({}), -1);
  EXPECT_EQ(size_with({{"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "1"}}), 4);               // mpirun of Open MPI
  EXPECT_EQ(size_with({{"PMI_RANK", "0"}, {"PMI_SIZE", "8"}, {"MPI_LOCALNRANKS", "2"}}), 8);  // mpiexec of MPICH
  EXPECT_EQ(size_with({{"PMI_PORT", "host:5000"}, {"MPI_LOCALNRANKS", "2"}}), 0);
  EXPECT_EQ(size_with({{"PMI_RANK", "1"}, {"PMI_SIZE", "3"}, {"SLURM_PROCID", "1"}}), 3);  // srun --mpi=pmi2
  EXPECT_EQ(size_with({{"PMIX_RANK", "2"}, {"SLURM_PROCID", "2"}, {"SLURM_STEP_NUM_TASKS", "5"}}), 5);
  EXPECT_EQ(size_with({{"PMIX_RANK", "2"}}), 0);
  EXPECT_EQ(size_with({{"OMPI_COMM_WORLD_SIZE", "many"}}), 0);
}

// By which the ranks of a machine take its GPUs in turn.
TEST_F(Launchers, tell_the_rank_on_the_machine) {
  EXPECT_EQ(launch_with({}).local_rank, 0u);
  EXPECT_EQ(launch_with({{"OMPI_COMM_WORLD_SIZE", "8"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "3"}}).local_rank, 3u);
  EXPECT_EQ(launch_with({{"PMI_RANK", "5"}, {"PMI_SIZE", "8"}, {"MPI_LOCALRANKID", "1"}}).local_rank, 1u);
  EXPECT_EQ(launch_with({{"PMIX_RANK", "2"}, {"SLURM_PROCID", "6"}, {"SLURM_LOCALID", "2"}}).local_rank, 2u);
  // mpirun in a step of Slurm, which has one task on this machine
  EXPECT_EQ(launch_with({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "2"}, {"SLURM_LOCALID", "0"}})
                .local_rank,
            2u);
  EXPECT_EQ(launch_with({{"PMIX_RANK", "2"}}).local_rank, 0u);
  EXPECT_EQ(launch_with({{"SLURM_PROCID", "3"}, {"SLURM_LOCALID", "3"}}).local_rank, 0u);  // a batch script
}

TEST_F(Launchers, a_batch_script_is_none) {
  EXPECT_EQ(size_with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "16"}}), -1);
}

TEST_F(Launchers, mpirun_in_a_step_of_slurm_tells_the_size) {
  EXPECT_EQ(
      size_with(
          {{"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "1"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}),
      4);
}

TEST_F(Launchers, one_process_needs_no_library) {
  ztp::start_ranks();
  EXPECT_EQ(ztp::world().size(), 1u);
  setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
  ztp::start_ranks();
  EXPECT_EQ(ztp::world().size(), 1u);
  ztp::end_ranks();
  EXPECT_EQ(ztp::world().rank(), 0u);
}

}  // namespace
