#include "diagnose/chain_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <limits>
#include <set>
#include <string_view>

#include "base/file.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

[[noreturn]] void bad_line(const std::string& path, std::uint64_t line, const std::string& what) {
  throw Error(ErrorKind::input, fmt::format("{}:{}: {}", path, line, what));
}

// Calls row(line, fields) for each line of a file; incomplete tells that the last one has no end.
void for_rows(const std::string& path,
              const std::function<void(std::uint64_t, const std::vector<std::string_view>&, bool incomplete)>& row) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw_io("open", path);
  std::string text;
  std::vector<std::string_view> fields;
  for (std::uint64_t line = 1; std::getline(file, text); ++line) {
    const bool incomplete = file.eof();
    std::string_view rest = text;
    if (rest.ends_with('\r')) rest.remove_suffix(1);
    fields.clear();
    for (std::size_t tab = rest.find('\t'); tab != std::string_view::npos; tab = rest.find('\t')) {
      fields.push_back(rest.substr(0, tab));
      rest.remove_prefix(tab + 1);
    }
    fields.push_back(rest);
    row(line, fields, incomplete);
  }
  if (file.bad()) throw_io("read", path);
}

template <class Number>
Number number(std::string_view text, const std::string& path, std::uint64_t line, const std::string& column) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    bad_line(path, line, fmt::format("{} is \"{}\", not a number", column, text.substr(0, 40)));
  return value;
}

struct Header {
  std::size_t fields = 0, chain = 0, sweep = 0;
  std::vector<std::size_t> others;
};

Header read_header(ChainTable& table, const std::vector<std::string_view>& fields) {
  Header header;
  header.fields = fields.size();
  std::size_t known = 0;
  std::set<std::string_view> met;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!met.insert(fields[i]).second)
      bad_line(table.path, 1, fmt::format("two columns are called \"{}\"", fields[i].substr(0, 40)));
    if (fields[i] == "chain" || fields[i] == "sweep") {
      (fields[i] == "chain" ? header.chain : header.sweep) = i;
      ++known;
    } else {
      header.others.push_back(i);
      table.places.emplace(fields[i], table.names.size());
      table.names.emplace_back(fields[i]);
    }
  }
  if (known != 2) bad_line(table.path, 1, "there is no header line with the columns chain and sweep");
  return header;
}

void read_row(ChainTable& table, const Header& header, std::uint64_t line,
              const std::vector<std::string_view>& fields) {
  if (fields.size() != header.fields)
    bad_line(table.path, line, fmt::format("expected {} fields, found {}", header.fields, fields.size()));
  const auto chain = number<std::uint32_t>(fields[header.chain], table.path, line, "chain");
  if (chain >= table.chains.size())
    bad_line(table.path, line, fmt::format("chain {}, but the run has {} (from 0)", chain, table.chains.size()));
  ChainTable::Rows& rows = table.chains[chain];
  const auto sweep = number<std::int64_t>(fields[header.sweep], table.path, line, "sweep");
  if (!rows.sweep.empty() && sweep <= rows.sweep.back())
    bad_line(table.path, line, fmt::format("sweep {} after sweep {} of chain {}", sweep, rows.sweep.back(), chain));
  rows.columns.resize(header.others.size());
  for (std::size_t i = 0; i < header.others.size(); ++i) {
    const std::string_view text = fields[header.others[i]];
    rows.columns[i].push_back(text.empty() ? std::numeric_limits<double>::quiet_NaN()
                                           : number<double>(text, table.path, line, table.names[i]));
  }
  rows.sweep.push_back(sweep);
}

}  // namespace

std::optional<std::size_t> ChainTable::find(const std::string& name) const {
  const auto at = places.find(name);
  return at == places.end() ? std::nullopt : std::optional<std::size_t>(at->second);
}

std::size_t ChainTable::column(const std::string& name) const {
  const auto at = find(name);
  if (!at) bad_line(path, 1, fmt::format("no column is called \"{}\"", name));
  return *at;
}

std::size_t ChainTable::first_after(std::size_t chain, std::int64_t burn_in) const {
  const auto& sweep = chains[chain].sweep;
  return static_cast<std::size_t>(std::upper_bound(sweep.begin(), sweep.end(), burn_in) - sweep.begin());
}

DrawsOfChains ChainTable::draws(std::size_t column, const std::vector<std::size_t>& which, std::int64_t burn_in) const {
  DrawsOfChains result;
  for (const std::size_t c : which) {
    result.emplace_back();
    if (chains[c].sweep.empty()) continue;
    const auto& values = chains[c].columns[column];
    result.back().assign(values.begin() + static_cast<std::ptrdiff_t>(first_after(c, burn_in)), values.end());
  }
  return result;
}

ChainTable read_chain_table(const std::string& path, std::size_t chains) {
  ChainTable table;
  table.path = path;
  table.chains.resize(chains);
  std::optional<Header> header;
  for_rows(path, [&](std::uint64_t line, const std::vector<std::string_view>& fields, bool incomplete) {
    if (incomplete) return;
    if (line == 1)
      header = read_header(table, fields);
    else
      read_row(table, *header, line, fields);
  });
  if (!header) bad_line(path, 1, "no header line");
  return table;
}

std::vector<WatchedCellLabels> read_watched(const std::string& path, std::size_t order) {
  std::vector<WatchedCellLabels> result;
  std::size_t columns = 0;
  for_rows(path, [&](std::uint64_t line, const std::vector<std::string_view>& fields, bool) {
    if (line == 1) columns = fields.size();
    if (fields.size() != columns || (columns != order && columns != order + 1))
      bad_line(path, line,
               fmt::format("expected {} labels{}, found {} fields", order,
                           columns == order ? "" : " and perhaps an outcome", fields.size()));
    if (line == 1) return;  // the names of the modes
    WatchedCellLabels cell;
    cell.labels.assign(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(order));
    if (columns > order && !fields.back().empty()) {
      if (fields.back() != "0" && fields.back() != "1") bad_line(path, line, "the outcome is neither 0 nor 1");
      cell.outcome = fields.back() == "1";
    }
    result.push_back(std::move(cell));
  });
  return result;
}

}  // namespace ztp
