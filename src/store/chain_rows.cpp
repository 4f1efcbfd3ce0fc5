#include "store/chain_rows.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <string_view>

#include "base/file.hpp"

namespace ztp {
namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

struct Row {
  Extent where;
  std::uint32_t chain = none, sweep = none;  // none, if there are no such numbers at its beginning
};

Row parse_row(std::string_view line, std::uint64_t begin) {
  Row row{{begin, begin + line.size()}};
  std::uint32_t chain = 0, sweep = 0;
  const char* end = line.data() + line.size();
  const auto first = std::from_chars(line.data(), end, chain);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '\t') return row;
  const auto second = std::from_chars(first.ptr + 1, end, sweep);
  if (second.ec != std::errc() || (*second.ptr != '\t' && *second.ptr != '\n')) return row;
  row.chain = chain;
  row.sweep = sweep;
  return row;
}

// Calls use(row) for each complete line, the header included.
void for_rows(const std::string& path, const std::function<void(const Row&)>& use) {
  const ReadFile file(path);
  std::string block;
  std::uint64_t begin = 0;  // of the block
  for (std::uint64_t at = 0; at < file.length();) {
    const std::size_t kept = block.size(), more = std::min<std::uint64_t>(1 << 20, file.length() - at);
    block.resize(kept + more);
    file.read(at, block.data() + kept, more);
    at += more;
    std::size_t line = 0;
    for (std::size_t end = block.find('\n'); end != std::string::npos; end = block.find('\n', line)) {
      use(parse_row({block.data() + line, end + 1 - line}, begin + line));
      line = end + 1;
    }
    block.erase(0, line);
    begin += line;
  }
}

}  // namespace

std::vector<std::uint64_t> keep_rows(const std::string& path, std::size_t chains, const KeepsSweep& keeps) {
  std::vector<std::uint64_t> rows(chains, 0);
  std::error_code no_access;
  if (!std::filesystem::exists(path, no_access)) return rows;
  std::vector<Extent> kept;
  std::vector<std::uint32_t> last(chains, 0);  // a row may be there twice (run/ranks.hpp)
  for_rows(path, [&](const Row& row) {
    const bool header = row.where.begin == 0;
    if (!header && (row.chain >= chains || row.sweep <= last[row.chain] || !keeps(row.chain, row.sweep))) return;
    if (!header) {
      ++rows[row.chain];
      last[row.chain] = row.sweep;
    }
    add_extent(kept, row.where);
  });
  keep_extents(path, kept);
  return rows;
}

void sort_rows(const std::string& path, std::size_t chains) {
  std::vector<std::vector<Extent>> of_chains(chains);
  std::vector<Extent> all;
  for_rows(path, [&](const Row& row) {
    if (row.where.begin == 0) add_extent(all, row.where);  // the header
    if (row.chain < chains) add_extent(of_chains[row.chain], row.where);
  });
  for (const auto& extents : of_chains)
    for (const Extent& extent : extents) add_extent(all, extent);
  keep_extents(path, all);
}

}  // namespace ztp
