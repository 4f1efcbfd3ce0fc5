// A tensor in a file, in shuffled order (.ztpt, made by convert): for data that need not fit into memory.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ztp/labels.hpp"

namespace ztp {

// The ones are in an order that is a fixed shuffle of the cells: any stretch of the file is a fair random sample of all
// ones, and no cell is there twice. Nothing but the header is held in memory, and nothing is mapped.
class TensorFile {
 public:
  // Checks the header, and that the file is as long as it says. Error: input names what is damaged, or the first block
  // cut off; io, if it cannot be opened.
  explicit TensorFile(const std::string& path);
  ~TensorFile();
  TensorFile(TensorFile&&) noexcept;
  TensorFile& operator=(TensorFile&&) noexcept;

  // Whether it is a regular file that begins as these files do; false for "-" and for what cannot be read.
  static bool recognises(const std::string& path);

  const std::string& path() const;  // as it was given
  std::size_t order() const;        // number of modes, K
  std::uint64_t ones() const;
  bool has_counts() const;             // else every one counts 1
  std::uint64_t total_count() const;   // the sum of all counts; without counts the number of ones
  std::size_t ones_per_block() const;  // of all blocks but the last, which has what is left
  std::size_t blocks() const;
  std::uint64_t fingerprint() const;  // changes with any change of contents

  const std::string& mode_name(std::size_t k) const;
  std::uint32_t mode_size(std::size_t k) const;  // entities
  // Names and labels, read from the file: Error (input) if they are damaged. The labels have no index
  // (LabelTable::index).
  std::vector<Mode> modes() const;

  // Ones first .. first+count-1 in the order of the file: coords count x K, counts (may be null; 1 if the file has
  // none) count. Whole blocks are read and checked on the way: Error (input) names the block that is damaged; usage, if
  // there are not so many. Safe from several threads.
  void read(std::uint64_t first, std::size_t count, std::uint32_t* coords, std::int64_t* counts) const;
  // Reads and checks everything once, in little memory; `progress` is called with the part done, 0 to 1. Error (input)
  // names what is damaged.
  void verify(const std::function<void(double)>& progress = {}) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace ztp
