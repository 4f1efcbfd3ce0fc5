// Minibatches: of ones in memory and of ones in a file, whatever comes in one piece or in many; and what is asked of
// the ones of a file in one pass. Everything is a function of the seed 14; there is no chance in a run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "checkpoint_bytes.hpp"
#include "errors.hpp"
#include "io/dataset_ones.hpp"
#include "online_data.hpp"
#include "run/file_minibatches.hpp"
#include "temp_dir.hpp"
#include "tensor/shuffle.hpp"
#include "tensor/tensor_writer.hpp"
#include "ztp/error.hpp"

namespace ztp::test {
namespace minibatches_tests {

constexpr std::uint64_t seed = 14;
constexpr std::size_t ones_per_block = 64;

void fill(OnlineData& data, std::size_t ones, bool counted, std::size_t minibatches) {
  add_modes({50, 40, 30}, data);
  add_ones(ones, counted, seed, data);
  data.make_problem(5, minibatches, seed);
}

// Of the reference kernel.
struct Cut {
  Pool pool{1};
  std::unique_ptr<Kernel> kernel = make_kernel(KernelName::reference, pool);
  OwnedMinibatches owned;
  Minibatches& ones;
  explicit Cut(const OnlineData& data) : owned(data.minibatches(*kernel)), ones(*owned.ones) {}
};

void write(const std::string& path, const SparseTensor& tensor) {
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  for (std::size_t e = 0; e < tensor.nnz(); ++e) order.emplace_back(shuffle_hash(tensor.cell(e), 3), e);
  std::sort(order.begin(), order.end());
  TensorWriter writer(path, tensor.modes, !tensor.counts.empty(), ones_per_block);
  for (const auto& [hash, e] : order) writer.add(tensor.cell(e), tensor.counts.empty() ? 1 : tensor.counts[e]);
  writer.commit();
}

std::vector<Cell> all_ones(const SparseTensor& tensor) {
  std::vector<Cell> cells;
  for (std::size_t e = 0; e < tensor.nnz(); ++e) {
    cells.emplace_back(tensor.cell(e), tensor.cell(e) + 3);
    if (!tensor.counts.empty()) cells.back().push_back(static_cast<std::uint32_t>(tensor.counts[e]));
  }
  return cells;  // sorted
}

// ---- which ones -----------------------------------------------------------------------------------------------------

TEST(Minibatches, EveryOneIsInOneOfThem) {
  for (const std::size_t count : {1, 2, 7, 999, 1000, 5000}) {  // not more than ones
    OnlineData data;
    fill(data, 1000, count == 7, count);
    const Cut cut(data);
    EXPECT_EQ(cut.ones.count(), std::min<std::size_t>(count, 1000));
    std::vector<Cell> together;
    std::uint64_t least = 1000, most = 0;
    for (std::size_t b = 0; b < cut.ones.count(); ++b) {
      const std::vector<Cell> cells = ones_of(cut.ones, 3, b, b);
      EXPECT_EQ(cells.size(), cut.ones.size(b));
      least = std::min(least, cut.ones.size(b));
      most = std::max(most, cut.ones.size(b));
      together.insert(together.end(), cells.begin(), cells.end());
    }
    EXPECT_LE(most - least, 1u);
    EXPECT_GE(least, 1u);
    std::sort(together.begin(), together.end());
    EXPECT_EQ(together, all_ones(data.tensor)) << count;
  }
}

// Whether a minibatch is a fair sample: one that were a stretch of the sorted ones would have a few rows of the first
// mode only.
TEST(Minibatches, AreSpreadOverTheTensor) {
  OnlineData data;
  fill(data, 1000, false, 10);
  const Cut cut(data);
  for (std::size_t b = 0; b < 10; ++b) {
    std::set<std::uint32_t> rows;
    for (const Cell& cell : ones_of(cut.ones, 3, b, b)) rows.insert(cell[0]);
    EXPECT_GT(rows.size(), 35u);  // of 50, by 100 ones: 43 are expected
  }
}

TEST(Minibatches, EpochsMeetEachOnceInAnOrderOfTheirOwn) {
  const StreamKey key = stream_key(seed, 0, Purpose::minibatches), other = stream_key(seed, 1, Purpose::minibatches);
  std::set<std::vector<std::size_t>> orders;
  for (std::uint32_t epoch = 0; epoch < 20; ++epoch)
    for (const StreamKey& of_chain : {key, other}) {
      std::vector<std::size_t> order;
      for (std::uint32_t i = 1; i <= 13; ++i) order.push_back(minibatch_of_step(of_chain, 13, 13 * epoch + i));
      orders.insert(order);
      std::sort(order.begin(), order.end());
      for (std::size_t b = 0; b < 13; ++b) ASSERT_EQ(order[b], b) << "epoch " << epoch;
    }
  EXPECT_EQ(orders.size(), 40u);  // of 13! possible ones
  EXPECT_EQ(minibatch_of_step(key, 1, 77), 0u);
}

// Their numbers among all ones: each minibatch begins where the one before ends, wherever they are. And an index of
// rows for each matrix; of edges, whose ends are rows of one matrix, a single one for both.
TEST(Minibatches, AreNumberedAndEndsOfEdgesShareAnIndex) {
  OnlineData data;
  add_modes({30, 40}, data);
  add_ones(900, false, seed, data);
  add_network(0, 400, seed, data);
  data.make_problem(5, 3, seed);
  const Cut cut(data);
  const auto check = [](Minibatches& minibatches, std::size_t indices) {
    std::uint64_t first = 0;
    for (std::size_t b = 0; b < minibatches.count(); ++b)
      minibatches.read(b, b, [&](const Minibatches::Chunk& chunk) {
        EXPECT_EQ(on_this_host(chunk.ones).by_row.size(), indices);
        EXPECT_EQ(chunk.ones.first(), first);
        first += chunk.ones.count();
      });
    EXPECT_EQ(first, minibatches.total());
  };
  check(cut.ones, 2);
  check(*cut.owned.edges[0], 1);
}

// ---- of a file ------------------------------------------------------------------------------------------------------

TEST(FileMinibatches, HoldTheSameOnesAsThoseInMemory) {
  const TempDir directory;
  for (const bool counted : {false, true})
    for (const std::size_t count : {1, 7, 40}) {
      OnlineData data;
      fill(data, 1000, counted, count);
      write(directory / "a.ztpt", data.tensor);
      const TensorFile file(directory / "a.ztpt");
      const Cut cut(data);
      for (const std::size_t chunk : {5, 37, 100, 1 << 20}) {
        FileMinibatches minibatches(file, file.ones(), count, counted, data.problem.layout, *cut.kernel, chunk);
        ASSERT_EQ(minibatches.count(), count);
        EXPECT_EQ(minibatches.total(), 1000u);
        EXPECT_EQ(minibatches.total_count(), cut.ones.total_count());
        EXPECT_EQ(minibatches.whole(), (1000 + count - 1) / count <= chunk);
        // As a chain asks: in some order, each with what comes after it, which is not always what is read then; some
        // twice.
        for (std::size_t i = 0; i < count; ++i) {
          const std::size_t b = (i * 3) % count;
          ASSERT_EQ(minibatches.size(b), cut.ones.size(b));
          for (const std::size_t next : {(b + 3) % count, b, std::size_t{0}})
            ASSERT_EQ(ones_of(minibatches, 3, b, next), ones_of(cut.ones, 3, b, b)) << count << ", chunk " << chunk;
        }
      }
    }
}

TEST(FileMinibatches, ComeInChunksOfTheSizeAskedFor) {
  const TempDir directory;
  OnlineData data;
  fill(data, 1000, false, 2);
  write(directory / "a.ztpt", data.tensor);
  const TensorFile file(directory / "a.ztpt");
  const Cut cut(data);
  FileMinibatches minibatches(file, 900, 2, false, data.problem.layout, *cut.kernel, 200);
  std::vector<std::uint64_t> begins, sizes;
  minibatches.read(1, 0, [&](const Minibatches::Chunk& chunk) {
    begins.push_back(chunk.ones.first());
    sizes.push_back(chunk.ones.count());
  });
  EXPECT_EQ(begins, (std::vector<std::uint64_t>{450, 650, 850}));
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{200, 200, 50}));
}

// What a chain makes of them: the same draws whatever the size of the chunks, and the same after a restart.
TEST(FileMinibatches, ChainIsTheSameInAnyChunksAndRestored) {
  const TempDir directory;
  OnlineData data;
  fill(data, 1000, false, 4);
  write(directory / "a.ztpt", data.tensor);
  const TensorFile file(directory / "a.ztpt");
  Pool pool(2);
  const auto kernel = make_kernel(KernelName::cpu, pool);
  const FactorLayout& layout = data.problem.layout;
  FileMinibatches in_one(file, 1000, 4, false, layout, *kernel), small(file, 1000, 4, false, layout, *kernel, 60);
  OnlineChain whole(data.problem, {}, {in_one, {}}, *kernel, 0), first(data.problem, {}, {small, {}}, *kernel, 0),
      second(data.problem, {}, {small, {}}, *kernel, 0);
  whole.start();
  run(whole, 11);
  first.start();
  run(first, 6);
  restore(second, checkpoint_bytes(first), 6);
  run(second, 5);
  EXPECT_TRUE(checkpoint_bytes(second) == checkpoint_bytes(whole));
}

// Block 13 of 16 is hit in one of four steps of an epoch, and that step throws.
TEST(FileMinibatches, DamagedBlockStopsTheStepThatReadsIt) {
  const TempDir directory;
  const std::string path = directory / "a.ztpt";
  OnlineData data;
  fill(data, 1000, false, 4);
  write(path, data.tensor);
  {
    std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
    const std::streamoff place = static_cast<std::streamoff>(TensorFormat(data.tensor.modes, false, 64).header_bytes());
    bytes.seekg(place + 12 * (64 * 12 + 8) + 100);
    const char before = static_cast<char>(bytes.get());
    bytes.seekp(place + 12 * (64 * 12 + 8) + 100);
    bytes.put(static_cast<char>(before ^ 1));
  }
  const TensorFile file(path);
  Pool pool(1);
  const auto kernel = make_kernel(KernelName::cpu, pool);
  for (const std::size_t chunk : {50, 1000}) {
    FileMinibatches minibatches(file, 1000, 4, false, data.problem.layout, *kernel, chunk);
    OnlineChain chain(data.problem, {}, {minibatches, {}}, *kernel, 0);
    const std::string message = error_of(
        [&] {
          chain.start();
          run(chain, 4);
        },
        ErrorKind::input);
    EXPECT_TRUE(holds(message, path));
    EXPECT_TRUE(holds(message, "block 13 (of 16) is damaged"));
  }
}

// ---- questions to the ones of a file --------------------------------------------------------------------------------

TEST(FileCells, WhichAreOnes) {
  const TempDir directory;
  OnlineData data;
  fill(data, 1000, false, 1);
  write(directory / "a.ztpt", data.tensor);
  Dataset filed;
  filed.file = std::make_shared<TensorFile>(directory / "a.ztpt");
  filed.tensor.modes = filed.file->modes();
  Pool pool(2);
  Buffer<std::uint32_t> cells;  // every cell there is, sorted
  for (std::uint32_t i = 0; i < 50; ++i)
    for (std::uint32_t j = 0; j < 40; ++j)
      for (std::uint32_t l = 0; l < 30; ++l)
        for (const std::uint32_t id : {i, j, l}) cells.push_back(id);
  std::vector<std::uint32_t> last(3 * 300);
  filed.file->read(700, 300, last.data(), nullptr);
  for (const std::uint64_t ones : {1000, 700}) {  // the first 700: without the last 300
    std::set<Cell> wanted;
    for (std::size_t e = 0; e < data.tensor.nnz(); ++e) wanted.emplace(data.tensor.cell(e), data.tensor.cell(e) + 3);
    for (std::size_t e = 0; e < 300 && ones == 700; ++e) wanted.erase(Cell(&last[3 * e], &last[3 * e] + 3));
    filed.file_ones = ones;
    const std::vector<std::uint8_t> found = which_are_ones(filed, cells, pool);
    ASSERT_EQ(found.size(), 60'000u);
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_EQ(found[i], wanted.count(Cell(cells.data() + 3 * i, cells.data() + 3 * i + 3)));
  }
  EXPECT_TRUE(which_are_ones(filed, {}, pool).empty());
}

TEST(FileCells, HoldOutTheLastOnesAndDrawnZeros) {
  const TempDir directory;
  OnlineData source;
  fill(source, 1000, false, 1);
  write(directory / "a.ztpt", source.tensor);
  Dataset data;
  data.file = std::make_shared<TensorFile>(directory / "a.ztpt");
  data.file_ones = 1000;
  data.tensor.modes = data.file->modes();
  data.missing.slices = {{3, 4, 5}, {}, {}};
  for (const std::uint32_t id : {10u, 10u, 10u}) data.missing.cells.push_back(id);
  std::vector<std::uint32_t> last(3 * 100);
  data.file->read(900, 100, last.data(), nullptr);
  Pool pool(2);
  const TestCells test = hold_out_of_file(data, 0.1, 20, seed, pool);
  EXPECT_EQ(data.file_ones, 900u);
  ASSERT_EQ(test.size(), 2100u);
  std::set<Cell> ones, held_out;
  for (std::size_t e = 0; e < 1000; ++e) ones.emplace(source.tensor.cell(e), source.tensor.cell(e) + 3);
  for (std::size_t e = 0; e < 100; ++e) held_out.emplace(&last[3 * e], &last[3 * e] + 3);
  Cell before;
  std::size_t count = 0;
  for (std::size_t i = 0; i < test.size(); ++i) {
    const Cell cell(test.coords.data() + 3 * i, test.coords.data() + 3 * i + 3);
    ASSERT_LT(before, cell);  // sorted, none twice
    before = cell;
    count += test.outcome[i];
    if (test.outcome[i] != 0) {
      ASSERT_EQ(held_out.count(cell), 1u);
    } else {
      ASSERT_EQ(ones.count(cell), 0u);
      ASSERT_TRUE((cell[0] < 3 || cell[0] > 5) && cell != Cell({10, 10, 10}));
    }
  }
  EXPECT_EQ(count, 100u);
  EXPECT_THROW(hold_out_of_file(data, 0.0001, 1, seed, pool), Error);  // no one at all
  EXPECT_THROW(hold_out_of_file(data, 0.5, 1000, seed, pool), Error);  // more zeros than cells
}

// A one that is said to be missing is an error that names it, in a slice as in the list.
TEST(FileCells, MissingOnesAreRefused) {
  const TempDir directory;
  OnlineData source;
  fill(source, 1000, false, 1);
  write(directory / "a.ztpt", source.tensor);
  Pool pool(2);
  for (const bool in_slice : {false, true}) {
    Dataset data;
    data.file = std::make_shared<TensorFile>(directory / "a.ztpt");
    data.file_ones = 1000;
    data.tensor.modes = data.file->modes();
    data.missing.slices.resize(3);
    EXPECT_NO_THROW(check_missing_in_file(data, pool));
    if (in_slice) data.missing.slices[1] = {source.tensor.cell(500)[1]};
    if (!in_slice) data.missing.cells.append(source.tensor.cell(500), 3);
    EXPECT_THROW(check_missing_in_file(data, pool), Error) << in_slice;
  }
}

}  // namespace minibatches_tests
}  // namespace ztp::test
