// From cells and pairs as they were given, in files or in memory, to a Dataset: checks, order, and what is odd.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/pool.hpp"
#include "ztp/read.hpp"

namespace ztp {

// A cell by its labels, for messages.
std::string cell_text(const std::vector<Mode>& modes, const std::uint32_t* cell);

// Makes labels findable that are not yet.
void index_labels(std::vector<Mode>& modes, const std::string& source, Pool& pool);

// Where ones are from, for messages, and whether they are counts and lines of a file.
struct OnesSource {
  const std::string& name;
  bool counts;
  bool lines = true;
};
// Error, if there are no ones.
void require_ones(const Dataset& data, const std::string& source);
// Adds a count to those before it; an error if they pass 2^62.
void add_to_total(std::int64_t& total, std::int64_t count, const std::string& source);
// What is odd about cells: repeated ones that were merged or added up, zeros that were ignored.
std::vector<std::string> cell_warnings(const OnesSource& source, std::uint64_t duplicates, std::uint64_t zeros);
// Brings the ones of data.tensor into order.
void finish_ones(const OnesSource& source, Dataset& data);

// Adds a network whose edges are as they were given. Error, if none is left.
void add_network(Network network, Dataset& data);
// After the last network: the same source twice is an oversight.
void warn_of_repeated_networks(Dataset& data);

// An entity listed as missing, and where.
struct ListedEntity {
  std::uint32_t id;
  const std::string* source;
  std::uint64_t line;  // of a file; 0: of something else
};
// The entities of mode k that are listed become data.missing.slices[k]. Error, if one has ones or none would be left.
void set_missing_slices(std::size_t k, const std::vector<ListedEntity>& listed, const std::string& ones_source,
                        Dataset& data);
// Brings data.missing.cells, which are as they were given in `source`, into order. Error, if one of them is a one.
void finish_missing_cells(const std::string& source, const std::string& ones_source, Dataset& data);
// The same with the missing pairs of one of data.networks.
void finish_missing_pairs(const std::string& source, Network& network, Dataset& data);

}  // namespace ztp
