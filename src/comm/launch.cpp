#include "comm/launch.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace ztp {
namespace {

bool is_set(const char* name) {
  return std::getenv(name) != nullptr;
}

// Zero if it is not there, or not a number.
std::size_t number(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return 0;
  const std::string_view text = value;
  std::size_t result = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  return error == std::errc() && end == text.data() + text.size() ? result : 0;
}

}  // namespace

// | launcher                          | what it sets                                        |
// | mpirun of Open MPI                | OMPI_COMM_WORLD_SIZE, PMIX_RANK                     |
// | mpiexec of MPICH, of Intel's MPI  | PMI_RANK and PMI_SIZE, or PMI_PORT; MPI_LOCALNRANKS |
// | srun --mpi=pmi2                   | PMI_RANK, PMI_SIZE, SLURM_PROCID                    |
// | srun --mpi=pmix                   | PMIX_RANK, SLURM_PROCID, SLURM_STEP_NUM_TASKS       |
// | sbatch, srun --mpi=none           | SLURM_PROCID                                        |
// Each also tells the rank on the machine: OMPI_COMM_WORLD_LOCAL_RANK, MPI_LOCALRANKID, SLURM_LOCALID.
// The last row has no ranks that could find each other. The first size that is known counts: mpirun may itself run in a
// step of Slurm. SLURM_NTASKS tells how many tasks the allocation may have, and not how many were started.
Launch read_launch() {
  Launch launch;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMI_PORT", "MPI_LOCALNRANKS", "PMIX_RANK"})
    launch.by_launcher = launch.by_launcher || is_set(name);
  if (!launch.by_launcher) return launch;
  launch.size = number("OMPI_COMM_WORLD_SIZE");
  if (launch.size == 0) launch.size = number("PMI_SIZE");
  if (launch.size == 0 && is_set("PMIX_RANK") && is_set("SLURM_PROCID")) launch.size = number("SLURM_STEP_NUM_TASKS");
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}) {
    if (!is_set(name)) continue;
    launch.local_rank = number(name);
    break;
  }
  return launch;
}

}  // namespace ztp
