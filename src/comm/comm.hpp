// Communication between the processes of one job. Each process is a rank, numbered from 0. Without an MPI launcher
// there is one rank, and every operation does nothing or copies.
//
// All ranks call the same operations in the same order, but for those on stops, host and abort. Calls may come from any
// thread, one at a time. An operation that fails throws Error (io), which names it; other ranks may then wait for this
// one, so the caller ends the job with abort.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ztp {

class Comm {
 public:
  virtual ~Comm() = default;

  virtual std::size_t rank() const = 0;
  virtual std::size_t size() const = 0;

  virtual void barrier() = 0;
  virtual void broadcast(void* data, std::size_t bytes, std::size_t root) = 0;

  // Every rank ends up with the sums, or the maxima, over all ranks. The count is the same on all.
  virtual void add_up(std::int64_t* values, std::size_t count) = 0;
  virtual void largest(std::int64_t* values, std::size_t count) = 0;

  // The bytes of every rank, in the order of ranks. Lengths may differ.
  virtual std::vector<std::vector<std::byte>> all_gather(const void* data, std::size_t bytes) = 0;
  // The same on the root alone; empty elsewhere.
  virtual std::vector<std::vector<std::byte>> gather(const void* data, std::size_t bytes, std::size_t root) = 0;

  // Each rank tells each other rank a number: size() of them each way.
  virtual void exchange_sizes(const std::uint64_t* to_each, std::uint64_t* from_each) = 0;

  // Bytes from every rank to every rank, packed in the order of ranks. Both sides know the sizes. The buffers do not
  // overlap.
  void exchange(const void* send, const std::uint64_t* bytes_to_each, void* receive,
                const std::uint64_t* bytes_from_each) {
    begin_exchange(send, bytes_to_each, receive, bytes_from_each);
    end_exchange();
  }
  // The same in two steps, for work in between. One exchange at a time; both buffers stay untouched until the end. The
  // sizes are read at once. Other operations may come in between.
  virtual void begin_exchange(const void* send, const std::uint64_t* bytes_to_each, void* receive,
                              const std::uint64_t* bytes_from_each) = 0;
  virtual void end_exchange() = 0;
  // Whether end_exchange would return at once. MPI may move large messages only while it is called, so a caller with
  // long work in between asks now and then.
  virtual bool exchange_arrived() = 0;

  // The ranks that gave the same group, in the order of ranks. Made and destroyed by all of them together.
  virtual std::unique_ptr<Comm> split(std::size_t group) = 0;

  // Any rank may request that the job stops. Every rank of the whole job sees it a moment later, whichever Comm it
  // asks, and for as long as the job lasts. Neither call waits for other ranks.
  virtual void request_stop() = 0;
  virtual bool stop_requested() = 0;

  // The name of this rank's machine.
  std::string host() const;

  // What this rank has sent to others so far; what all ranks have summed or gathered counts once.
  std::uint64_t bytes_sent() const { return bytes_sent_; }

  // Ends all ranks of the job at once, with this exit code.
  [[noreturn]] virtual void abort(int exit_code) = 0;

 protected:
  std::uint64_t bytes_sent_ = 0;
};

// One process by itself. Its stops are its own.
std::unique_ptr<Comm> single_comm();

// Whether an MPI launcher (mpirun, mpiexec, srun) started this process, as its environment tells.
bool launched_as_rank();

// Starts MPI (libztp_mpi.so) if a launcher started this process and others with it; else does nothing. Throws Error
// (config) if the library is missing or belongs to another MPI than the launcher.
void start_ranks();
// Ends MPI if it was started: waits for all ranks. What world() gave is gone.
void end_ranks() noexcept;

// All ranks of the job: one process, unless start_ranks started more.
Comm& world();

}  // namespace ztp
