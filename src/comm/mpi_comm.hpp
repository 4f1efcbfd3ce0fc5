// Ranks that communicate by MPI: libztp_mpi.so, loaded when it is asked for.
#pragma once
#include "comm/comm.hpp"
#include "comm/mpi_api.hpp"

namespace ztp::mpi {

// Throws Error (config) if the library is missing. Loads it once.
const Api& library();

// world: what Api::start gave.
std::unique_ptr<Comm> make_comm(const Api& api, void* world);

}  // namespace ztp::mpi
