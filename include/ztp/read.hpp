// From text files to a tensor and its networks.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ztp/choices.hpp"
#include "ztp/tensor.hpp"
#include "ztp/tensor_file.hpp"

namespace ztp {

// The text formats of cells.
enum class FileFormat { tsv, tns, mtx, csv };
template <>
inline constexpr auto choice_names<FileFormat> = std::array{"tsv", "tns", "mtx", "csv"};
// The format of that name; Error (usage), if there is none.
FileFormat format_named(const std::string& name);

// Files, and how they are read.
struct ReadOptions {
  std::string file;                  // .tsv, .csv, .tns or .mtx, plain or .gz or .zst; "-" is standard input
  std::optional<FileFormat> format;  // nothing: by the name, then by the first lines
  // Whether the first line of a .tsv or .csv names the modes. Nothing: if it begins with #; of a .csv, also if it looks
  // like a header.
  std::optional<bool> header;
  bool values = false;                      // the last column of a .tsv or .csv is a number
  bool counts = false;                      // the numbers are counts, to be kept (--likelihood count)
  int index_base = 1;                       // of a .tns file
  std::vector<std::string> labels;          // "MODE=FILE": more entities; or one directory with MODE.txt files
  std::vector<std::string> tie;             // "MODE=MODE": two modes of the same entities; each gets those of both
  std::vector<std::string> networks;        // "MODE=FILE"
  std::string missing;                      // file of cells that were not observed
  std::vector<std::string> missing_slices;  // "MODE=FILE": entities all of whose cells were not observed
  // "MODE=FILE", or "MODE:N=FILE" for the mode's N-th network: pairs that were not observed.
  std::vector<std::string> missing_pairs;
  bool stream = false;   // the ones of a tensor file stay in it: see Dataset::file
  unsigned threads = 1;  // what is read does not depend on their number
  double memory = 0;     // if the ones alone take more bytes than this, they are not read to the end; 0: no limit
};

// How a text file was read.
struct FileSummary {
  std::string file;
  std::string use;                      // "ones", "labels", "network", "missing", "missing slices", "missing pairs"
  FileFormat format = FileFormat::tsv;  // a list of labels is a .tsv or a .csv
  char separator = '\t';                // of columns; a space for runs of spaces and TABs
  bool header = false;                  // its first line names the columns
  std::vector<std::string> columns;     // the mode of each, in order
  bool values = false;                  // the last column, after these, is a number
};

// The data of a fit.
struct Dataset {
  SparseTensor tensor;
  // With ReadOptions::stream and a tensor file: where the ones are. The tensor then has modes (labels without an index)
  // and only the ones that were added later.
  std::shared_ptr<const TensorFile> file;
  std::uint64_t file_ones = 0;  // the first so many are the data; those after them are held out
  std::uint64_t ones() const { return file_ones + tensor.nnz(); }  // wherever they are
  std::vector<Network> networks;
  Missing missing;
  std::uint64_t lines = 0;            // cells given, duplicates included
  std::uint64_t duplicates = 0;       // of them merged away
  std::uint64_t zeros = 0;            // cells given with the value zero, ignored
  std::vector<std::string> warnings;  // one sentence each: what was merged or ignored, and what may be a mistake
  std::vector<std::string> notes;     // one sentence each: entities that were added, headers that were recognised
  std::vector<FileSummary> files;     // the text files that were read, in this order
};

// Reads, checks, sorts and merges everything that the options name. Throws Error: usage (options that do not fit each
// other or the file), config (no such mode or network; more than ReadOptions::memory), input (what is wrong with a
// file, with its line and column; files that contradict each other), io (a file that cannot be read).
Dataset read_dataset(const ReadOptions& options);

// A file of labels and a last column 0 or 1, or a count, over the modes of a tensor, which must have an index. Throws
// Error (input, io) as read_dataset does, also if a cell is there as a 0 and as a 1.
TestCells read_test_cells(const std::string& file, const std::vector<Mode>& modes, unsigned threads = 1,
                          bool counts = false);

// "MODE=REST" taken apart; an error of kind usage, naming the flag, if there is no "=".
std::pair<std::string, std::string> split_assignment(const std::string& text, const std::string& flag,
                                                     const std::string& value = "FILE");

}  // namespace ztp
