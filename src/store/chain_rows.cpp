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

// Calls use(row, line) for each complete line, the header included.
void for_rows(const std::string& path, const std::function<void(const Row&, std::string_view)>& use) {
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
      const std::string_view text(block.data() + line, end + 1 - line);
      use(parse_row(text, begin + line), text);
      line = end + 1;
    }
    block.erase(0, line);
    begin += line;
  }
}

// The field with this number, from 0; empty if there are not so many.
std::string_view field_of(std::string_view line, std::size_t number) {
  line.remove_suffix(1);  // the end of the line
  for (; number > 0; --number) {
    const std::size_t tab = line.find('\t');
    if (tab == line.npos) return {};
    line.remove_prefix(tab + 1);
  }
  return line.substr(0, line.find('\t'));
}

}  // namespace

std::vector<double> last_values(const std::string& path, std::size_t chains, std::string_view column) {
  std::vector<double> values(chains, std::numeric_limits<double>::quiet_NaN());
  std::size_t place = 0;
  for_rows(path, [&](const Row& row, std::string_view line) {
    if (row.where.begin == 0) {
      const std::size_t found = line.find(column);
      const std::string_view before = line.substr(0, found);
      place = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\t'));
      return;
    }
    const std::string_view field = field_of(line, place);
    double value = 0;
    if (row.chain < chains && std::from_chars(field.data(), field.data() + field.size(), value).ec == std::errc())
      values[row.chain] = value;
  });
  return values;
}

std::vector<std::uint64_t> keep_rows(const std::string& path, std::size_t chains, const KeepsSweep& keeps) {
  std::vector<std::uint64_t> rows(chains, 0);
  std::error_code no_access;
  if (!std::filesystem::exists(path, no_access)) return rows;
  std::vector<Extent> kept;
  std::vector<std::uint32_t> last(chains, 0);  // a row may be there twice (run/ranks.hpp)
  for_rows(path, [&](const Row& row, std::string_view) {
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
  for_rows(path, [&](const Row& row, std::string_view) {
    if (row.where.begin == 0) add_extent(all, row.where);  // the header
    if (row.chain < chains) add_extent(of_chains[row.chain], row.where);
  });
  for (const auto& extents : of_chains)
    for (const Extent& extent : extents) add_extent(all, extent);
  keep_extents(path, all);
}

}  // namespace ztp
