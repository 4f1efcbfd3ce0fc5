// libztp_mpi.so: the operations of comm/mpi_api.hpp with MPI's C interface.
#include "comm/mpi_api.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace ztp::mpi {
namespace {

// A rank's stop, on a communicator of its own. It is a message without content to each other rank; nobody waits for it
// before the end.
struct Stop {
  MPI_Comm comm = MPI_COMM_NULL;
  bool requested = false;             // by any rank
  bool mine = false;                  // by this one
  std::vector<bool> heard;            // of each rank: its message has been received
  std::vector<MPI_Request> messages;  // of this rank to the others
};

struct Ranks {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
  std::vector<MPI_Request> exchange;  // what was begun
};

// Tags, so that operations that overlap do not receive each other's messages.
enum Tag : int { of_exchange = 1, of_gather = 2, of_stop = 3 };

thread_local std::string last_error;
std::string mpi_name;
std::size_t piece = largest_piece;
std::unique_ptr<Ranks> world;
std::unique_ptr<Stop> stop;
bool started_here = false;

// A call of MPI that failed; caught before the border.
struct Failure {
  std::string words;
};

void check(int code) {
  if (code == MPI_SUCCESS) return;
  char words[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, words, &length);
  throw Failure{std::string(words, static_cast<std::size_t>(length))};
}

template <class Work>
int guarded(const Work& work) {
  try {
    work();
    return 0;
  } catch (const Failure& failure) {
    last_error = failure.words;
  } catch (const std::bad_alloc&) {
    last_error = "out of memory";
  }
  return 1;
}

Ranks& ranks(void* comm) {
  return *static_cast<Ranks*>(comm);
}

// visit(pointer, count) for each piece of so many bytes.
template <class Byte, class Visit>
void in_pieces(Byte* data, std::uint64_t bytes, const Visit& visit) {
  for (std::uint64_t at = 0; at < bytes; at += piece)
    visit(data + at, static_cast<int>(std::min<std::uint64_t>(piece, bytes - at)));
}

// Messages between two ranks arrive in the order in which they were sent, so that all pieces have one tag.
void begin_receive(const Ranks& of, void* data, std::uint64_t bytes, int from, Tag tag,
                   std::vector<MPI_Request>& requests) {
  in_pieces(static_cast<std::byte*>(data), bytes, [&](std::byte* part, int count) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Irecv(part, count, MPI_BYTE, from, tag, of.comm, &request));
    requests.push_back(request);
  });
}

void begin_send(const Ranks& of, const void* data, std::uint64_t bytes, int to, Tag tag,
                std::vector<MPI_Request>& requests) {
  in_pieces(static_cast<const std::byte*>(data), bytes, [&](const std::byte* part, int count) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Isend(part, count, MPI_BYTE, to, tag, of.comm, &request));
    requests.push_back(request);
  });
}

// One request after the other, and not MPI_Waitall: that of Open MPI 4 never returns if one has failed before. MPI
// works on all of them, whichever it is asked about.
void wait_for_all(std::vector<MPI_Request>& requests) {
  const std::vector<MPI_Request> waiting = std::exchange(requests, {});
  for (MPI_Request request : waiting) check(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

// Those that are done are dropped.
bool all_done(std::vector<MPI_Request>& requests) {
  while (!requests.empty()) {
    int done = 0;
    check(MPI_Test(&requests.back(), &done, MPI_STATUS_IGNORE));
    if (done == 0) return false;
    requests.pop_back();
  }
  return true;
}

void copy(void* to, const void* from, std::uint64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

// Takes `comm` over.
std::unique_ptr<Ranks> make_ranks(MPI_Comm comm) {
  auto result = std::make_unique<Ranks>();
  result->comm = comm;
  check(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  check(MPI_Comm_rank(comm, &result->rank));
  check(MPI_Comm_size(comm, &result->size));
  return result;
}

void start_mpi() {
  int running = 0, over = 0, level = MPI_THREAD_SINGLE;
  check(MPI_Finalized(&over));
  if (over != 0) throw Failure{"it has ended in this process and cannot be started again"};
  check(MPI_Initialized(&running));
  if (running != 0) {
    check(MPI_Query_thread(&level));
  } else {
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level));
    started_here = true;
  }
  if (level < MPI_THREAD_SERIALIZED) throw Failure{"it cannot be called from more than one thread"};
}

// The first line of what the library says of itself, up to a comma: "Open MPI v4.1.4".
std::string read_name() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  check(MPI_Get_library_version(text, &length));
  const std::string name(text, static_cast<std::size_t>(length));
  return name.substr(0, name.find_first_of(",\n"));
}

const char* error() {
  return last_error.c_str();
}

const char* name() {
  return mpi_name.c_str();
}

int start(void** result) {
  return guarded([&] {
    start_mpi();
    mpi_name = read_name();
    MPI_Comm comm = MPI_COMM_NULL;
    check(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    world = make_ranks(comm);
    stop = std::make_unique<Stop>();
    check(MPI_Comm_dup(world->comm, &stop->comm));
    check(MPI_Comm_set_errhandler(stop->comm, MPI_ERRORS_RETURN));
    stop->heard.resize(static_cast<std::size_t>(world->size));
    *result = world.get();
  });
}

void hear_stop(int from) {
  check(MPI_Recv(nullptr, 0, MPI_BYTE, from, of_stop, stop->comm, MPI_STATUS_IGNORE));
  stop->heard[static_cast<std::size_t>(from)] = true;
  stop->requested = true;
}

// MPI may end only when every message has been received. So each rank says whether it sent any.
void hear_all_stops() {
  const unsigned char mine = stop->mine ? 1 : 0;
  std::vector<unsigned char> sent(stop->heard.size());
  check(MPI_Allgather(&mine, 1, MPI_BYTE, sent.data(), 1, MPI_BYTE, stop->comm));
  for (int from = 0; from < world->size; ++from) {
    const auto at = static_cast<std::size_t>(from);
    if (from != world->rank && sent[at] != 0 && !stop->heard[at]) hear_stop(from);
  }
  wait_for_all(stop->messages);
}

int finish() {
  return guarded([] {
    if (world != nullptr && stop != nullptr) {
      hear_all_stops();
      check(MPI_Comm_free(&stop->comm));
      check(MPI_Comm_free(&world->comm));
    }
    stop.reset();
    world.reset();
    if (started_here) check(MPI_Finalize());
    started_here = false;
  });
}

void end_all(int exit_code) {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
}

void set_piece(std::size_t bytes) {
  piece = std::clamp<std::size_t>(bytes, 1, largest_piece);
}

void place(const void* comm, std::size_t* rank, std::size_t* size) {
  const Ranks& of = *static_cast<const Ranks*>(comm);
  *rank = static_cast<std::size_t>(of.rank);
  *size = static_cast<std::size_t>(of.size);
}

// Groups are any numbers, MPI's colours are ints: the first rank of a group stands for it.
int split(void* comm, std::uint64_t group, void** part) {
  return guarded([&] {
    const Ranks& of = ranks(comm);
    std::vector<std::uint64_t> groups(static_cast<std::size_t>(of.size));
    check(MPI_Allgather(&group, 1, MPI_UINT64_T, groups.data(), 1, MPI_UINT64_T, of.comm));
    const auto first = std::find(groups.begin(), groups.end(), group) - groups.begin();
    MPI_Comm made = MPI_COMM_NULL;
    check(MPI_Comm_split(of.comm, static_cast<int>(first), of.rank, &made));
    *part = make_ranks(made).release();
  });
}

void release(void* part) {
  const std::unique_ptr<Ranks> of(&ranks(part));
  int over = 0;
  if (MPI_Finalized(&over) == MPI_SUCCESS && over == 0) MPI_Comm_free(&of->comm);
}

int barrier(void* comm) {
  return guarded([&] { check(MPI_Barrier(ranks(comm).comm)); });
}

void broadcast_bytes(const Ranks& of, void* data, std::uint64_t bytes, int root) {
  in_pieces(static_cast<std::byte*>(data), bytes,
            [&](std::byte* part, int count) { check(MPI_Bcast(part, count, MPI_BYTE, root, of.comm)); });
}

int broadcast(void* comm, void* data, std::size_t bytes, std::size_t root) {
  return guarded([&] { broadcast_bytes(ranks(comm), data, bytes, static_cast<int>(root)); });
}

int reduce(void* comm, std::int64_t* values, std::size_t count, MPI_Op operation) {
  return guarded([&] {
    const std::size_t at_once = std::max<std::size_t>(1, piece / sizeof(std::int64_t));
    for (std::size_t at = 0; at < count; at += at_once)
      check(MPI_Allreduce(MPI_IN_PLACE, values + at, static_cast<int>(std::min(at_once, count - at)), MPI_INT64_T,
                          operation, ranks(comm).comm));
  });
}

int add_up(void* comm, std::int64_t* values, std::size_t count) {
  return reduce(comm, values, count, MPI_SUM);
}

int largest(void* comm, std::int64_t* values, std::size_t count) {
  return reduce(comm, values, count, MPI_MAX);
}

int share_size(void* comm, std::uint64_t mine, std::uint64_t* of_each) {
  return guarded([&] { check(MPI_Allgather(&mine, 1, MPI_UINT64_T, of_each, 1, MPI_UINT64_T, ranks(comm).comm)); });
}

// One operation where all fits into a piece.
void all_gather_packed(const Ranks& of, const void* data, const std::uint64_t* bytes, std::size_t total,
                       void* const* receive) {
  const auto size = static_cast<std::size_t>(of.size);
  std::vector<int> counts(size), begin(size);
  std::vector<std::byte> packed(total);
  for (std::size_t i = 0, at = 0; i < size; at += bytes[i++]) {
    counts[i] = static_cast<int>(bytes[i]);
    begin[i] = static_cast<int>(at);
  }
  check(MPI_Allgatherv(data, counts[static_cast<std::size_t>(of.rank)], MPI_BYTE, packed.data(), counts.data(),
                       begin.data(), MPI_BYTE, of.comm));
  for (std::size_t i = 0; i < size; ++i) copy(receive[i], packed.data() + begin[i], bytes[i]);
}

int all_gather(void* comm, const void* data, const std::uint64_t* bytes_of_each, void* const* receive) {
  return guarded([&] {
    const Ranks& of = ranks(comm);
    std::uint64_t total = 0;
    for (int i = 0; i < of.size; ++i) total += bytes_of_each[i];
    if (total <= piece) return all_gather_packed(of, data, bytes_of_each, total, receive);
    copy(receive[of.rank], data, bytes_of_each[of.rank]);
    for (int i = 0; i < of.size; ++i) broadcast_bytes(of, receive[i], bytes_of_each[i], i);
  });
}

int gather(void* comm, const void* data, const std::uint64_t* bytes_of_each, void* const* receive, std::size_t root) {
  return guarded([&] {
    const Ranks& of = ranks(comm);
    std::vector<MPI_Request> requests;
    if (of.rank != static_cast<int>(root)) {
      begin_send(of, data, bytes_of_each[of.rank], static_cast<int>(root), of_gather, requests);
    } else {
      for (int i = 0; i < of.size; ++i)
        if (i != of.rank) begin_receive(of, receive[i], bytes_of_each[i], i, of_gather, requests);
      copy(receive[of.rank], data, bytes_of_each[of.rank]);
    }
    wait_for_all(requests);
  });
}

int exchange_sizes(void* comm, const std::uint64_t* to_each, std::uint64_t* from_each) {
  return guarded([&] { check(MPI_Alltoall(to_each, 1, MPI_UINT64_T, from_each, 1, MPI_UINT64_T, ranks(comm).comm)); });
}

std::vector<std::uint64_t> first_bytes(const std::uint64_t* bytes, int count) {
  std::vector<std::uint64_t> first(static_cast<std::size_t>(count));
  for (std::size_t i = 1; i < first.size(); ++i) first[i] = first[i - 1] + bytes[i - 1];
  return first;
}

// All receives are begun before the first send. Each rank begins with its neighbours, so that not all send to the same
// rank at once.
int begin_exchange(void* comm, const void* send, const std::uint64_t* bytes_to_each, void* receive,
                   const std::uint64_t* bytes_from_each) {
  return guarded([&] {
    Ranks& of = ranks(comm);
    const std::vector<std::uint64_t> to = first_bytes(bytes_to_each, of.size);
    const std::vector<std::uint64_t> from = first_bytes(bytes_from_each, of.size);
    const auto* const sent = static_cast<const std::byte*>(send);
    auto* const received = static_cast<std::byte*>(receive);
    for (int step = 1; step < of.size; ++step) {
      const int i = (of.rank + of.size - step) % of.size;
      begin_receive(of, received + from[static_cast<std::size_t>(i)], bytes_from_each[i], i, of_exchange, of.exchange);
    }
    for (int step = 1; step < of.size; ++step) {
      const int i = (of.rank + step) % of.size;
      begin_send(of, sent + to[static_cast<std::size_t>(i)], bytes_to_each[i], i, of_exchange, of.exchange);
    }
    const auto self = static_cast<std::size_t>(of.rank);
    copy(received + from[self], sent + to[self], bytes_to_each[self]);
  });
}

int end_exchange(void* comm) {
  return guarded([&] { wait_for_all(ranks(comm).exchange); });
}

int exchange_arrived(void* comm, int* arrived) {
  return guarded([&] { *arrived = all_done(ranks(comm).exchange) ? 1 : 0; });
}

int request_stop() {
  return guarded([] {
    if (stop->requested) return;  // whoever did has told all ranks
    stop->requested = stop->mine = true;
    for (int to = 0; to < world->size; ++to) {
      if (to == world->rank) continue;
      MPI_Request request = MPI_REQUEST_NULL;
      check(MPI_Isend(nullptr, 0, MPI_BYTE, to, of_stop, stop->comm, &request));
      stop->messages.push_back(request);
    }
  });
}

int stop_requested(int* requested) {
  return guarded([&] {
    if (!stop->requested) {
      int there = 0;
      MPI_Status status;
      check(MPI_Iprobe(MPI_ANY_SOURCE, of_stop, stop->comm, &there, &status));
      if (there != 0) hear_stop(status.MPI_SOURCE);
    } else {
      all_done(stop->messages);  // they may only leave while MPI is called
    }
    *requested = stop->requested ? 1 : 0;
  });
}

}  // namespace
}  // namespace ztp::mpi

extern "C" __attribute__((visibility("default"))) const ztp::mpi::Api* ztp_mpi_api() {
  using namespace ztp::mpi;
  static const Api api = {
      .version = api_version,
      .error = error,
      .name = name,
      .start = start,
      .finish = finish,
      .abort = end_all,
      .set_piece = set_piece,
      .place = place,
      .split = split,
      .release = release,
      .barrier = barrier,
      .broadcast = broadcast,
      .add_up = add_up,
      .largest = largest,
      .share_size = share_size,
      .all_gather = all_gather,
      .gather = gather,
      .exchange_sizes = exchange_sizes,
      .begin_exchange = begin_exchange,
      .end_exchange = end_exchange,
      .exchange_arrived = exchange_arrived,
      .request_stop = request_stop,
      .stop_requested = stop_requested,
  };
  return &api;
}
