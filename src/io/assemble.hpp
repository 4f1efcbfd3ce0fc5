// From cells and pairs as given, in files or in memory, to a Dataset: checks, sorting and warnings.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/pool.hpp"
#include "ztp/arrays.hpp"
#include "ztp/read.hpp"

namespace ztp {

// A cell by its labels, for messages.
std::string cell_text(const std::vector<Mode>& modes, const std::uint32_t* cell);

// Builds the missing indexes of labels.
void index_labels(std::vector<Mode>& modes, const std::string& source, Pool& pool);

// The source of ones, for messages: its name, whether it has counts, and whether it is a file with lines.
struct OnesSource {
  const std::string& name;
  bool counts;
  bool lines = true;
};
// Error, if there are no ones.
void require_ones(const Dataset& data, const std::string& source);
// Adds a count to those before it; an error if they pass 2^62.
void add_to_total(std::int64_t& total, std::int64_t count, const std::string& source);
// Warnings about repeated cells, which were merged or added up, and zeros, which were ignored.
std::vector<std::string> cell_warnings(const OnesSource& source, std::uint64_t duplicates, std::uint64_t zeros);
// Sorts and merges the ones of data.tensor.
void normalize_ones(const OnesSource& source, Dataset& data);

// How many pairs were dropped.
struct DroppedPairs {
  std::uint64_t self = 0;      // pairs of an entity with itself
  std::uint64_t repeated = 0;  // a b and b a are one
};
// Brings pairs into the form of edges and missing pairs, i < j, sorted and distinct; in place.
DroppedPairs sort_and_merge_pairs(Buffer<std::uint32_t>& pairs);

// Adds a network, whose edges are sorted and merged. Error, if no edge is left.
void add_network(Network network, Dataset& data);
// After the last network: warns if two have the same source.
void warn_of_repeated_networks(Dataset& data);

// An entity listed as missing, and where.
struct ListedEntity {
  std::uint32_t id;
  const std::string* source;
  std::uint64_t line;  // of a file; 0: there is no file
};
// Sets data.missing.slices[k] to the listed entities. Error, if one of them has ones, or all entities are listed.
void set_missing_slices(std::size_t k, const std::vector<ListedEntity>& listed, const std::string& ones_source,
                        Dataset& data);
// Sorts and merges data.missing.cells, which come from `source`. Error, if one of them is a one.
void normalize_missing_cells(const std::string& source, const std::string& ones_source, Dataset& data);
// The same for the missing pairs of one of data.networks.
void normalize_missing_pairs(const std::string& source, Network& network, Dataset& data);

// Checks of data in memory, shared by make_dataset and updates. Indexes the labels. Error (usage), if there are too few
// or too many modes, or a name or label could not be written to a file.
void check_modes(std::vector<Mode>& modes, const std::string& source);

// Error (usage), if the pairs of a network have ids that the mode does not have.
void check_edges(const Arrays::Edges& edges, const std::vector<Mode>& modes);

}  // namespace ztp
