// Every operation between ranks, against what it must give: `mpirun -n N ranks N [CASE]`. All ranks run the same tests
// in the same order. CASE is one that ends the program in its own way:
//   unheard   a stop that nobody asks about must not keep the job from ending
//   abort     rank 1 ends the job with exit code 42 while the others wait
//   large     a message of more than 2^31 bytes; needs 9 GiB with two ranks, and is run by hand
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "comm/comm.hpp"
#include "comm/mpi_comm.hpp"
#include "comm/shared_memory.hpp"
#include "ztp/error.hpp"

namespace {

using Bytes = std::vector<std::byte>;
using Sizes = std::vector<std::uint64_t>;

std::size_t wanted_size = 1;

// A number that all ranks know: splitmix64 of what it is for.
std::uint64_t agreed(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  std::uint64_t x = (a * 1000003 + b) * 1000003 + c + 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// What `from` sends to `to`: random bytes of a known length.
Bytes message(std::size_t from, std::size_t to, std::uint64_t round, std::uint64_t length) {
  Bytes result(length);
  for (std::size_t i = 0; i < length; ++i) result[i] = static_cast<std::byte>(agreed(from * 100 + to, round, i));
  return result;
}

// Random lengths; a third of the messages are empty.
std::uint64_t random_length(std::size_t from, std::size_t to, std::uint64_t round) {
  const std::uint64_t number = agreed(from, to, round);
  return number % 3 == 0 ? 0 : number / 3 % 2000;
}

// As different as the pairs, from empty to some kilobytes.
std::uint64_t length_of_pair(std::size_t from, std::size_t to, std::uint64_t) {
  return (from * 31 + to) * 17;
}

void append(Bytes& packed, const Bytes& part) {
  packed.insert(packed.end(), part.begin(), part.end());
}

struct Exchange {
  Sizes to_each, from_each;
  Bytes sent, wanted, received;
};

template <class Length>
Exchange plan(const ztp::Comm& comm, std::uint64_t round, const Length& length) {
  Exchange result;
  for (std::size_t i = 0; i < comm.size(); ++i) {
    result.to_each.push_back(length(comm.rank(), i, round));
    result.from_each.push_back(length(i, comm.rank(), round));
    append(result.sent, message(comm.rank(), i, round, result.to_each[i]));
    append(result.wanted, message(i, comm.rank(), round, result.from_each[i]));
  }
  result.received.resize(result.wanted.size());
  return result;
}

template <class Length>
void try_exchange(ztp::Comm& comm, std::uint64_t round, const Length& length) {
  Exchange of = plan(comm, round, length);
  Sizes told(comm.size());
  comm.exchange_sizes(of.to_each.data(), told.data());
  EXPECT_EQ(told, of.from_each);
  comm.exchange(of.sent.data(), of.to_each.data(), of.received.data(), of.from_each.data());
  EXPECT_EQ(of.received, of.wanted) << "round " << round;
}

void try_gathers(ztp::Comm& comm, std::uint64_t round) {
  std::vector<Bytes> wanted;
  for (std::size_t i = 0; i < comm.size(); ++i) wanted.push_back(message(i, 0, round, random_length(i, 0, round)));
  const Bytes& own = wanted[comm.rank()];
  EXPECT_EQ(comm.all_gather(own.data(), own.size()), wanted);
  for (std::size_t root = 0; root < comm.size(); ++root) {
    const std::vector<Bytes> gathered = comm.gather(own.data(), own.size(), root);
    EXPECT_EQ(gathered, comm.rank() == root ? wanted : std::vector<Bytes>{});
  }
}

void try_broadcasts(ztp::Comm& comm) {
  for (std::size_t root = 0; root < comm.size(); ++root)
    for (const std::uint64_t length : {0, 1, 999, 70000}) {
      const Bytes wanted = message(root, 0, 5, length);
      Bytes data = comm.rank() == root ? wanted : Bytes(length);
      comm.broadcast(data.data(), data.size(), root);
      EXPECT_EQ(data, wanted);
    }
}

void try_sums(ztp::Comm& comm) {
  for (const std::size_t count : {0, 1, 3, 5000}) {
    const auto value = [](std::size_t rank, std::size_t i) {
      return static_cast<std::int64_t>(agreed(rank, i, 6) >> 8) - (std::int64_t{1} << 55);
    };
    std::vector<std::int64_t> sums(count), most(count), sum(count), largest(count);
    for (std::size_t i = 0; i < count; ++i) {
      sums[i] = most[i] = value(comm.rank(), i);
      largest[i] = value(0, i);
      for (std::size_t rank = 0; rank < comm.size(); ++rank) {
        sum[i] += value(rank, i);
        largest[i] = std::max(largest[i], value(rank, i));
      }
    }
    comm.add_up(sums.data(), count);
    comm.largest(most.data(), count);
    EXPECT_EQ(sums, sum);
    EXPECT_EQ(most, largest);
  }
}

void try_all(ztp::Comm& comm) {
  comm.barrier();
  try_broadcasts(comm);
  try_sums(comm);
  for (std::uint64_t round = 0; round < 5; ++round) {
    try_gathers(comm, round);
    try_exchange(comm, round, random_length);
  }
  try_exchange(comm, 9, length_of_pair);
}

// Messages are cut into pieces of so many bytes as long as this lives.
class Pieces {
 public:
  explicit Pieces(std::size_t bytes) { set(bytes); }
  ~Pieces() { set(ztp::mpi::largest_piece); }
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;

 private:
  static void set(std::size_t bytes) {
    if (ztp::world().size() > 1) ztp::mpi::library().set_piece(bytes);
  }
};

TEST(Ranks, are_all_there_in_order) {
  ztp::Comm& world = ztp::world();
  ASSERT_EQ(world.size(), wanted_size);
  EXPECT_TRUE(ztp::launched_as_rank());
  const std::size_t rank = world.rank();
  const std::vector<Bytes> ranks = world.all_gather(&rank, sizeof rank);
  for (std::size_t i = 0; i < ranks.size(); ++i) EXPECT_EQ(*reinterpret_cast<const std::size_t*>(ranks[i].data()), i);
  EXPECT_FALSE(world.host().empty());
}

TEST(Ranks, every_operation_gives_what_it_must) {
  try_all(ztp::world());
}

TEST(Ranks, messages_are_cut_into_pieces) {
  for (const std::size_t bytes : {1, 13, 512}) {
    const Pieces pieces(bytes);
    try_exchange(ztp::world(), 11, [](std::size_t from, std::size_t to, std::uint64_t) { return 11 * from + to; });
  }
  const Pieces pieces(999);
  try_all(ztp::world());
}

TEST(Ranks, large_messages_in_one_piece) {
  try_exchange(ztp::world(), 13, [](std::size_t from, std::size_t to, std::uint64_t) {
    return from == to ? 0 : 100000 + 1000 * from + to;
  });
}

TEST(Ranks, work_goes_on_during_an_exchange) {
  ztp::Comm& world = ztp::world();
  Exchange of = plan(world, 14, [](std::size_t from, std::size_t to, std::uint64_t) { return (from + to) * 20000; });
  world.begin_exchange(of.sent.data(), of.to_each.data(), of.received.data(), of.from_each.data());
  EXPECT_THROW(world.begin_exchange(nullptr, of.to_each.data(), nullptr, of.from_each.data()), std::logic_error);
  try_sums(world);
  try_gathers(world, 15);
  while (!world.exchange_arrived()) std::this_thread::yield();
  world.end_exchange();
  EXPECT_EQ(of.received, of.wanted);
  try_exchange(world, 16, random_length);
}

TEST(Ranks, groups_are_ranks_of_their_own) {
  ztp::Comm& world = ztp::world();
  // Groups of every other rank, of numbers beyond 32 bits, of one rank each, and of all.
  const std::vector<std::size_t> groups = {world.rank() % 2, (world.rank() % 3) << 40, world.rank(), 7};
  for (std::size_t which = 0; which < groups.size(); ++which) {
    const std::size_t step = which == 0 ? 2 : which == 1 ? 3 : which == 2 ? world.size() : 1;
    const std::unique_ptr<ztp::Comm> part = world.split(groups[which]);
    EXPECT_EQ(part->rank(), world.rank() / step);
    EXPECT_EQ(part->size(), (world.size() - world.rank() % step + step - 1) / step);
    try_sums(*part);
    try_gathers(*part, 17);
    try_exchange(*part, 18, random_length);
    const std::unique_ptr<ztp::Comm> half = part->split(part->rank() < part->size() / 2 ? 0 : 1);
    try_exchange(*half, 19, length_of_pair);
  }
}

// Each rank writes its part of it, and reads those of all.
void try_shared_memory(ztp::Comm& comm) {
  constexpr std::size_t each = 3000;
  const std::unique_ptr<ztp::SharedMemory> memory = ztp::SharedMemory::make(comm, comm.size() * each * 8);
  ASSERT_NE(memory, nullptr);
  auto* const numbers = static_cast<std::uint64_t*>(memory->data());
  for (std::size_t i = 0; i < comm.size() * each; ++i) ASSERT_EQ(numbers[i], 0u);
  comm.barrier();
  for (std::size_t i = 0; i < each; ++i) numbers[comm.rank() * each + i] = agreed(comm.rank(), i, 21);
  comm.barrier();
  for (std::size_t i = 0; i < comm.size() * each; ++i) ASSERT_EQ(numbers[i], agreed(i / each, i % each, 21));
}

TEST(Ranks, memory_is_shared) {
  ztp::Comm& world = ztp::world();
  try_shared_memory(world);
  try_shared_memory(*world.split(world.rank() % 2));
  EXPECT_NE(ztp::SharedMemory::make(world, 0), nullptr);
}

TEST(Ranks, memory_is_shared_by_all_or_none) {
  ztp::Comm& world = ztp::world();
  if (world.rank() + 1 == world.size()) setenv("ZTP_SHARED_MEMORY", "0", 1);
  EXPECT_EQ(ztp::SharedMemory::make(world, 100), nullptr);
  unsetenv("ZTP_SHARED_MEMORY");
  EXPECT_NE(ztp::SharedMemory::make(world, 100), nullptr);
}

TEST(Ranks, an_error_names_the_operation) {
  ztp::Comm& world = ztp::world();
  EXPECT_THROW(world.broadcast(nullptr, 0, world.size()), std::logic_error);
  if (world.size() == 1) return;
  // Rank 1 has no room for what rank 0 sends.
  const std::unique_ptr<ztp::Comm> all = world.split(0);
  Sizes to(all->size()), from(all->size());
  if (all->rank() == 0) to[1] = 100;
  if (all->rank() == 1) from[0] = 10;
  const Bytes sent(100);
  Bytes received(10);
  const auto exchange = [&] { all->exchange(sent.data(), to.data(), received.data(), from.data()); };
  if (all->rank() != 1) return exchange();
  try {
    exchange();
    FAIL() << "no error";
  } catch (const ztp::Error& error) {
    EXPECT_EQ(error.kind(), ztp::ErrorKind::io);
    EXPECT_NE(std::string(error.what()).find("failed in exchange on rank 1"), std::string::npos) << error.what();
  }
}

// The last test: a stop remains.
TEST(Ranks, a_stop_is_seen_by_all_within_a_second) {
  ztp::Comm& world = ztp::world();
  const std::unique_ptr<ztp::Comm> part = world.split(world.rank() % 2);
  EXPECT_FALSE(world.stop_requested());
  world.barrier();
  // Two ranks at once, by a group and by the world. No rank but they does anything else than asking.
  if (world.rank() == world.size() - 1) part->request_stop();
  if (world.rank() == world.size() / 2) world.request_stop();
  const auto began = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(); };
  while (!part->stop_requested() && seconds() < 5) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_LT(seconds(), 1);
  EXPECT_TRUE(world.stop_requested());
  part->request_stop();  // again
  try_exchange(world, 20, random_length);
  EXPECT_TRUE(part->stop_requested());
}

int send_much() {
  ztp::Comm& world = ztp::world();
  const std::uint64_t large = (std::uint64_t{1} << 31) + 12345;
  Sizes to(world.size()), from(world.size());
  to[(world.rank() + 1) % world.size()] = large;
  from[(world.rank() + world.size() - 1) % world.size()] = large;
  std::vector<std::uint32_t> sent(large / 4 + 1), received(large / 4 + 1);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::uint32_t>(i * 7 + world.rank());
  world.exchange(sent.data(), to.data(), received.data(), from.data());
  std::size_t wrong = 0;
  const std::size_t sender = (world.rank() + world.size() - 1) % world.size();
  for (std::size_t i = 0; i < large / 4; ++i) wrong += received[i] != static_cast<std::uint32_t>(i * 7 + sender);
  world.broadcast(sent.data(), large, 0);
  for (std::size_t i = 0; i < large / 4; ++i) wrong += sent[i] != static_cast<std::uint32_t>(i * 7);
  std::printf("rank %zu: %zu wrong of %llu bytes\n", world.rank(), wrong, static_cast<unsigned long long>(large));
  return wrong == 0 ? 0 : 1;
}

int run(const std::string& what) {
  ztp::Comm& world = ztp::world();
  if (what == "large") return send_much();
  if (what == "unheard" && world.rank() <= 1) world.request_stop();
  if (what == "abort") {
    if (world.rank() == 1) world.abort(42);
    world.barrier();
  }
  return what == "abort" ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    ztp::start_ranks();
    GTEST_FLAG_SET(brief, ztp::world().rank() > 0);  // failures alone
    testing::InitGoogleTest(&argc, argv);
    if (argc > 1) wanted_size = std::strtoull(argv[1], nullptr, 10);
    const int code = argc > 2 ? run(argv[2]) : RUN_ALL_TESTS();
    ztp::end_ranks();
    return code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    ztp::world().abort(3);
  }
}
