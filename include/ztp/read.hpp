// From text files to a tensor and its networks.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ztp/tensor.hpp"
#include "ztp/tensor_file.hpp"

namespace ztp {

struct ReadOptions {
  std::string file;                         // .tsv, .tns or .mtx, plain or .gz or .zst; "-" is standard input
  std::string format;                       // "tsv", "tns" or "mtx"; empty: by the name, then by the first line
  bool values = false;                      // the last column of a .tsv is a number
  bool counts = false;                      // the numbers are counts, to be kept (--likelihood count)
  int index_base = 1;                       // of a .tns file
  std::vector<std::string> labels;          // "MODE=FILE", or one directory with MODE.txt for each mode
  std::vector<std::string> networks;        // "MODE=FILE"
  std::string missing;                      // file of cells that were not observed
  std::vector<std::string> missing_slices;  // "MODE=FILE": entities all of whose cells were not observed
  std::vector<std::string>
      missing_pairs;    // "MODE=FILE", or "MODE:N=FILE" for the mode's N-th network: unobserved pairs
  bool stream = false;  // the ones of a tensor file stay in it: see Dataset::file
  unsigned threads = 1;
  double memory = 0;  // if the ones alone take more bytes than this, they are not read to the end; 0: no limit
};

struct Dataset {
  SparseTensor tensor;
  // With ReadOptions::stream and a tensor file: where the ones are. The tensor then has modes (labels without an index) and those ones
  // alone that came later.
  std::shared_ptr<const TensorFile> file;
  std::uint64_t file_ones = 0;  // the first of it are the data; others, behind them, are held out
  std::uint64_t ones() const { return file_ones + tensor.nnz(); }
  std::vector<Network> networks;
  Missing missing;
  std::uint64_t lines = 0;       // cells given, duplicates included
  std::uint64_t duplicates = 0;  // of them merged away
  std::uint64_t zeros = 0;       // cells given with the value zero, ignored
  std::vector<std::string> warnings;
};

Dataset read_dataset(const ReadOptions& options);

// Labels and a last column 0 or 1, over the modes of a tensor.
TestCells read_test_cells(const std::string& file, const std::vector<Mode>& modes, unsigned threads = 1);

// "MODE=REST" taken apart; an error of kind usage, naming the flag, if there is no "=".
std::pair<std::string, std::string> split_assignment(const std::string& text, const std::string& flag,
                                                     const std::string& value = "FILE");

}  // namespace ztp
