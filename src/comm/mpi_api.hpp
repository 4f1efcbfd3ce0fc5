// What libztp_mpi.so offers: the operations of comm/comm.hpp as plain functions of plain data, so that neither the
// program nor the library needs a symbol of the other, and no type of MPI is seen outside it. A communicator is an
// opaque pointer. Functions that return an int return zero, or say that they failed.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ztp::mpi {

inline constexpr int api_version = 1;  // of this file: a library of another version is refused

// Counts of MPI-3 are ints, so a message is sent in pieces of at most so many bytes.
inline constexpr std::size_t largest_piece = std::size_t{1} << 30;

struct Api {
  int version;
  // The words for the last call that failed, in this thread.
  const char* (*error)();
  // Which MPI this is, in words.
  const char* (*name)();

  // Starts MPI, if nobody in this process did. world: all ranks.
  int (*start)(void** world);
  // Waits for all ranks. MPI ends if start() has started it. All communicators are gone.
  int (*finish)();
  void (*abort)(int exit_code);
  // At most largest_piece; the same on all ranks. For tests.
  void (*set_piece)(std::size_t bytes);

  void (*place)(const void* comm, std::size_t* rank, std::size_t* size);
  int (*split)(void* comm, std::uint64_t group, void** part);
  void (*release)(void* part);

  int (*barrier)(void* comm);
  int (*broadcast)(void* comm, void* data, std::size_t bytes, std::size_t root);
  int (*add_up)(void* comm, std::int64_t* values, std::size_t count);
  int (*largest)(void* comm, std::int64_t* values, std::size_t count);

  // of_each: what every rank gave.
  int (*share_size)(void* comm, std::uint64_t mine, std::uint64_t* of_each);
  // receive: where the bytes of each rank go, bytes_of_each of them. Those of this rank are `data`. gather reads it on
  // the root alone.
  int (*all_gather)(void* comm, const void* data, const std::uint64_t* bytes_of_each, void* const* receive);
  int (*gather)(void* comm, const void* data, const std::uint64_t* bytes_of_each, void* const* receive,
                std::size_t root);

  int (*exchange_sizes)(void* comm, const std::uint64_t* to_each, std::uint64_t* from_each);
  int (*begin_exchange)(void* comm, const void* send, const std::uint64_t* bytes_to_each, void* receive,
                        const std::uint64_t* bytes_from_each);
  int (*end_exchange)(void* comm);
  int (*exchange_arrived)(void* comm, int* arrived);

  // Of the whole job.
  int (*request_stop)();
  int (*stop_requested)(int* requested);
};

}  // namespace ztp::mpi

extern "C" {
// The one symbol of the library.
const ztp::mpi::Api* ztp_mpi_api();
}
