// Lines and bytes a second of reading one file on one thread:  bench_read FILE
// First the text alone (lines to coordinates), then all of read_dataset (sorted, duplicates merged).
#include "ztp/read.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/clock.hpp"
#include "io/table.hpp"

using ztp::clock_seconds;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const double bytes = static_cast<double>(std::filesystem::file_size(argv[1]));
  double begin = clock_seconds();
  std::uint64_t lines = 0;
  {
    ztp::Pool pool(1);
    ztp::TableSpec spec;
    spec.path = argv[1];
    ztp::TableReader reader(spec, pool);
    ztp::CellBlock block;
    while (reader.next(block)) lines += block.cells(reader.order());
  }
  const double parse = clock_seconds() - begin;
  begin = clock_seconds();
  ztp::ReadOptions options;
  options.file = argv[1];
  const ztp::Dataset data = ztp::read_dataset(options);
  const double whole = clock_seconds() - begin;
  const double count = static_cast<double>(lines);
  fmt::print("read\t{} lines\ttext {:.2f} million lines/s, {:.0f} MB/s\twith sorting {:.2f} million lines/s\n", lines,
             count / parse / 1e6, bytes / parse / 1e6, count / whole / 1e6);
  return data.tensor.nnz() > 0 ? 0 : 1;
}
