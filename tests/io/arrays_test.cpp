// Data in memory become what reading files of the same contents gives; and what is refused.
#include "ztp/arrays.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "errors.hpp"
#include "missing_data.hpp"

namespace ztp::test {
namespace {

Buffer<std::uint32_t> buffer(const Ids& values) {
  Buffer<std::uint32_t> result;
  result.append(values.data(), values.size());
  return result;
}

Buffer<std::int64_t> value_buffer(const std::vector<std::int64_t>& values) {
  Buffer<std::int64_t> result;
  result.append(values.data(), values.size());
  return result;
}

Mode named(const std::string& name, const std::vector<std::string>& labels) {
  Mode mode{name, {}};
  for (const std::string& label : labels) mode.labels.add(label);
  return mode;
}

std::string label_text(const LabelTable& labels) {
  std::string text = labels.is_numbered() ? fmt::format("from {}:", labels.first_number()) : "";
  for (std::uint32_t j = 0; j < labels.size(); ++j) text += " " + labels[j];
  return text;
}

void expect_same(const Dataset& made, const Dataset& read) {
  ASSERT_EQ(made.tensor.order(), read.tensor.order());
  for (std::size_t k = 0; k < read.tensor.order(); ++k) {
    EXPECT_EQ(made.tensor.modes[k].name, read.tensor.modes[k].name);
    EXPECT_EQ(label_text(made.tensor.modes[k].labels), label_text(read.tensor.modes[k].labels));
    EXPECT_TRUE(made.tensor.modes[k].labels.is_indexed());
  }
  EXPECT_EQ(ids(made.tensor.coords), ids(read.tensor.coords));
  EXPECT_EQ(std::vector<std::int64_t>(made.tensor.counts.begin(), made.tensor.counts.end()),
            std::vector<std::int64_t>(read.tensor.counts.begin(), read.tensor.counts.end()));
  ASSERT_EQ(made.networks.size(), read.networks.size());
  for (std::size_t m = 0; m < read.networks.size(); ++m) {
    EXPECT_EQ(made.networks[m].mode, read.networks[m].mode);
    EXPECT_EQ(made.networks[m].source, read.networks[m].source);
    EXPECT_EQ(ids(made.networks[m].edges), ids(read.networks[m].edges));
    EXPECT_EQ(ids(made.networks[m].missing), ids(read.networks[m].missing));
  }
  EXPECT_EQ(made.missing.slices, read.missing.slices);
  EXPECT_EQ(ids(made.missing.cells), ids(read.missing.cells));
  EXPECT_EQ(made.lines, read.lines);
  EXPECT_EQ(made.duplicates, read.duplicates);
  EXPECT_EQ(made.zeros, read.zeros);
  EXPECT_EQ(fingerprint(made.tensor, made.networks, made.missing),
            fingerprint(read.tensor, read.networks, read.missing));
}

// Warnings with the names of files replaced by what they are called in memory, where there are no lines to look up.
std::vector<std::string> renamed(std::vector<std::string> warnings,
                                 const std::vector<std::pair<std::string, std::string>>& names) {
  for (std::string& warning : warnings)
    for (const auto& [file, name] : names)
      if (warning.starts_with(file)) warning.replace(0, file.size(), name);
  static const std::string of_files = " ('ztp check' lists the lines)";
  for (std::string& warning : warnings)
    if (warning.ends_with(of_files)) warning.resize(warning.size() - of_files.size());
  return warnings;
}

class ArraysTest : public MissingData {
 protected:
  // ann x, ann y, bob y (twice), a zero of eve, cid z; eve has no ones.
  static Arrays cells() {
    Arrays arrays;
    arrays.modes.push_back(named("user", {"cid", "ann", "bob", "eve"}));
    arrays.modes.push_back(named("item", {"z", "y", "x"}));
    arrays.coords = buffer({0, 0, 1, 1, 2, 1, 3, 2, 2, 1, 1, 2});
    arrays.values = value_buffer({2, 1, 5, 0, 1, 3});
    return arrays;
  }
  std::string cell_file() {
    return write("cells.tsv", "#user\titem\ncid\tz\t2\nann\ty\t1\nbob\ty\t5\neve\tx\t0\nbob\ty\t1\nann\tx\t3\n");
  }
  static Arrays::Edges edges(const std::string& source, const Ids& pairs, const Ids& missing = {}) {
    Arrays::Edges result;
    result.source = source;
    result.pairs = buffer(pairs);
    result.missing = buffer(missing);
    return result;
  }
  ReadOptions files(bool counts) {
    ReadOptions files;
    files.file = cell_file();
    files.values = !counts;
    files.counts = counts;
    return files;
  }
  static std::string refusal(Arrays arrays, ErrorKind kind, bool counts = false) {
    return error_of([&] { make_dataset(std::move(arrays), counts); }, kind);
  }
};

TEST_F(ArraysTest, ValuesAsOnes) {
  const ReadOptions options = files(false);
  const Dataset made = make_dataset(cells()), read = read_dataset(options);
  expect_same(made, read);
  EXPECT_EQ(made.tensor.modes[0].labels.size(), 4u);  // eve, of whom there is a zero alone
  EXPECT_EQ(made.lines, 5u);
  EXPECT_EQ(made.duplicates, 1u);
  EXPECT_EQ(made.zeros, 1u);
  ASSERT_EQ(made.warnings.size(), 2u);
  EXPECT_EQ(made.warnings, renamed(read.warnings, {{options.file, "X"}}));
}

TEST_F(ArraysTest, ValuesAsCounts) {
  const ReadOptions options = files(true);
  const Dataset made = make_dataset(cells(), true), read = read_dataset(options);
  expect_same(made, read);
  EXPECT_EQ(made.tensor.counts.size(), 4u);
  EXPECT_EQ(made.warnings, renamed(read.warnings, {{options.file, "X"}}));
}

TEST_F(ArraysTest, NoValuesAreOnes) {
  Arrays arrays = cells();
  arrays.values = {};
  ReadOptions options;
  options.file = write("bare.tsv", "#user\titem\ncid\tz\nann\ty\nbob\ty\neve\tx\nbob\ty\nann\tx\n");
  expect_same(make_dataset(std::move(arrays)), read_dataset(options));
  arrays = cells();
  arrays.values = {};
  options.counts = true;
  options.file = write("ones.tsv", "#user\titem\ncid\tz\t1\nann\ty\t1\nbob\ty\t1\neve\tx\t1\nbob\ty\t1\nann\tx\t1\n");
  expect_same(make_dataset(std::move(arrays), true), read_dataset(options));
}

TEST_F(ArraysTest, NumberedEntities) {
  Arrays arrays;
  for (const std::uint32_t size : {5u, 3u, 7u})
    arrays.modes.push_back({fmt::format("mode{}", arrays.modes.size() + 1), LabelTable::numbered(1, size)});
  arrays.coords = buffer({1, 2, 0, 4, 0, 6, 1, 2, 0, 0, 1, 2});
  arrays.values = value_buffer({1, 0, -3, 9});
  ReadOptions options;
  options.file = write("cells.tns", "2 3 1 1\n5 1 7 0\n2 3 1 -3\n1 2 3 9\n");
  options.values = true;
  const Dataset made = make_dataset(std::move(arrays)), read = read_dataset(options);
  expect_same(made, read);
  EXPECT_EQ(made.warnings, renamed(read.warnings, {{options.file, "X"}}));
}

TEST_F(ArraysTest, NetworksAndWhatIsMissing) {
  ReadOptions options = files(false);
  const std::string friends = write("friends.tsv", "ann\tbob\nbob\tann\neve\teve\ncid\teve\nann\tbob\n");
  const std::string alike = write("alike.tsv", "y\tx\n");
  options.networks = {"user=" + friends, "item=" + alike};
  options.missing = write("missing.tsv", "ann\tz\nbob\tx\nann\tz\neve\tz\n");
  options.missing_slices = {"user=" + write("slices.txt", "eve\neve\n")};
  options.missing_pairs = {"user=" + write("pairs.tsv", "eve\tann\nann\teve\ncid\tcid\nbob\tcid\n")};
  const Dataset read = read_dataset(options);

  Arrays arrays = cells();
  arrays.networks.push_back(edges(friends, {1, 2, 2, 1, 3, 3, 0, 3, 1, 2}, {3, 1, 1, 3, 0, 0, 2, 0}));
  arrays.networks.push_back(edges(alike, {1, 2}));
  arrays.networks.back().mode = 1;
  arrays.missing = buffer({1, 0, 2, 2, 1, 0, 3, 0});
  arrays.missing_slices = {{3, 3}, {}};
  const Dataset made = make_dataset(std::move(arrays));
  expect_same(made, read);
  EXPECT_FALSE(made.networks[0].missing.empty());
  EXPECT_EQ(made.missing.cells.size(), 4u);  // of eve's cell the slice takes care
  EXPECT_EQ(made.warnings, renamed(read.warnings, {{options.file, "X"},
                                                   {dir_ / "missing.tsv", "missing"},
                                                   {dir_ / "pairs.tsv", friends + " (missing)"}}));
  EXPECT_EQ(made.warnings.size(), 7u);
}

TEST_F(ArraysTest, ANetworkTwiceIsWarnedOf) {
  Arrays arrays = cells();
  arrays.networks.push_back(edges("friends", {1, 2}));
  arrays.networks.push_back(edges("friends", {1, 2}));
  EXPECT_TRUE(holds(make_dataset(std::move(arrays)).warnings.back(), "friends is given as a network twice"));
  arrays = cells();
  arrays.networks.push_back(edges("", {1, 2}));
  arrays.networks.push_back(edges("", {1, 2}));
  const Dataset made = make_dataset(std::move(arrays));
  EXPECT_EQ(made.warnings.size(), 2u);
  EXPECT_EQ(made.networks[1].source, "network 2");
}

TEST_F(ArraysTest, LargeDataAreSortedAsThoseOfAFile) {
  std::string text;
  Arrays arrays;
  arrays.modes = {{"mode1", LabelTable::numbered(1, 499)}, {"mode2", LabelTable::numbered(1, 997)}};
  for (std::uint32_t e = 0; e < 60000; ++e) {
    const std::uint32_t cell[] = {e * 7919u % 499, e * 104729u % 997};
    arrays.coords.append(cell, 2);
    arrays.values.push_back(e % 3);
    text += fmt::format("{} {} {}\n", cell[0] + 1, cell[1] + 1, e % 3);
  }
  ReadOptions options;
  options.file = write("many.tns", text);
  options.counts = true;
  options.threads = 3;
  expect_same(make_dataset(std::move(arrays), true), read_dataset(options));
}

TEST_F(ArraysTest, ArraysAreWorkedOnWhereTheyAre) {
  Arrays arrays = cells();
  arrays.networks.push_back(edges("friends", {2, 1, 3, 3, 1, 2}, {3, 0, 0, 3}));
  arrays.missing = buffer({2, 2, 1, 0});
  const std::uint32_t* const places[] = {arrays.coords.data(), arrays.networks[0].pairs.data(),
                                         arrays.networks[0].missing.data(), arrays.missing.data()};
  const std::int64_t* const values = arrays.values.data();
  const Dataset made = make_dataset(std::move(arrays), true);
  EXPECT_EQ(made.tensor.coords.data(), places[0]);
  EXPECT_EQ(made.networks[0].edges.data(), places[1]);
  EXPECT_EQ(made.networks[0].missing.data(), places[2]);
  EXPECT_EQ(made.missing.cells.data(), places[3]);
  EXPECT_EQ(made.tensor.counts.data(), values);
}

TEST_F(ArraysTest, SizesThatDoNotFitAreRefused) {
  Arrays arrays = cells();
  arrays.coords.resize(arrays.coords.size() - 1);
  EXPECT_EQ(refusal(std::move(arrays), ErrorKind::usage), "X: 11 ids cannot be split into rows of 2");
  arrays = cells();
  arrays.values.resize(5);
  EXPECT_EQ(refusal(std::move(arrays), ErrorKind::usage), "X: 5 values, but 6 cells");
  arrays = cells();
  arrays.modes.pop_back();
  EXPECT_EQ(refusal(std::move(arrays), ErrorKind::usage), "X: 1 modes, but a tensor has 2 to 64");
  arrays = cells();
  for (int k = 2; k < 65; ++k) arrays.modes.push_back({fmt::format("m{}", k), LabelTable::numbered(0, 1)});
  EXPECT_EQ(refusal(std::move(arrays), ErrorKind::usage), "X: 65 modes, but a tensor has 2 to 64");
  arrays = cells();
  arrays.missing = buffer({0, 0, 1});
  EXPECT_EQ(refusal(std::move(arrays), ErrorKind::usage), "missing: 3 ids cannot be split into rows of 2");
  arrays = cells();
  arrays.missing_slices = {{0}};
  EXPECT_EQ(refusal(std::move(arrays), ErrorKind::usage), "missing entities: 1 lists for 2 modes");
  arrays = cells();
  arrays.networks.push_back(edges("friends", {0, 1, 2}));
  EXPECT_EQ(refusal(std::move(arrays), ErrorKind::usage), "friends: 3 ids cannot be split into rows of 2");
  arrays = cells();
  arrays.networks.push_back(edges("friends", {0, 1}, {0}));
  EXPECT_EQ(refusal(std::move(arrays), ErrorKind::usage), "friends (missing): 1 ids cannot be split into rows of 2");
}

TEST_F(ArraysTest, IdsOutOfRangeAreRefused) {
  Arrays arrays = cells();
  arrays.coords[7] = 3;
  EXPECT_EQ(refusal(std::move(arrays), ErrorKind::usage),
            "X: row 3 (from 0) has the id 3 of mode item, which has 3 entities");
  arrays = cells();
  arrays.missing = buffer({0, 1, 4, 0});
  EXPECT_TRUE(holds(refusal(std::move(arrays), ErrorKind::usage), "missing: row 1 (from 0) has the id 4 of mode user"));
  arrays = cells();
  arrays.missing_slices = {{}, {3}};
  EXPECT_EQ(refusal(std::move(arrays), ErrorKind::usage),
            "missing entities: the id 3 of mode item, which has 3 entities");
  arrays = cells();
  arrays.networks.push_back(edges("friends", {0, 4}));
  EXPECT_TRUE(holds(refusal(std::move(arrays), ErrorKind::usage), "friends: row 0 (from 0) has the id 4"));
  arrays = cells();
  arrays.networks.push_back(edges("friends", {0, 1}, {4, 1}));
  EXPECT_TRUE(holds(refusal(std::move(arrays), ErrorKind::usage), "friends (missing): row 0 (from 0) has the id 4"));
  arrays = cells();
  arrays.networks.push_back(edges("friends", {0, 1}));
  arrays.networks.back().mode = 2;
  EXPECT_EQ(refusal(std::move(arrays), ErrorKind::usage), "friends: there is no mode 2 (from 0)");
}

TEST_F(ArraysTest, NamesThatAFileCannotHoldAreRefused) {
  const auto with_mode = [](Mode mode) {
    Arrays arrays = cells();
    arrays.modes[1] = std::move(mode);
    return arrays;
  };
  EXPECT_EQ(refusal(with_mode(named("", {"x", "y", "z"})), ErrorKind::usage), "X: mode 1 (from 0) has no name");
  EXPECT_TRUE(holds(refusal(with_mode(named("user", {"x", "y", "z"})), ErrorKind::usage), "is given twice"));
  EXPECT_TRUE(holds(refusal(with_mode(named("a/b", {"x", "y", "z"})), ErrorKind::usage), "cannot be used"));
  for (const std::string& bad :
       {std::string(), std::string("a\tb"), std::string("a\n"), std::string("\r"), std::string("a\0b", 3)})
    EXPECT_TRUE(holds(refusal(with_mode(named("item", {"x", bad, "z"})), ErrorKind::usage),
                      "of entity 1 (from 0) of mode item cannot be written to a file"));
  EXPECT_EQ(refusal(with_mode({"item", LabelTable::listed("xyx", {1, 2, 3})}), ErrorKind::input),
            "X: mode item: label \"x\" is listed twice");
}

TEST_F(ArraysTest, ContradictionsAreThoseOfFiles) {
  Arrays arrays = cells();
  arrays.coords = {};
  arrays.values = {};
  EXPECT_EQ(refusal(std::move(arrays), ErrorKind::input), "X: no cells");
  arrays = cells();
  arrays.values = value_buffer({0, 0, 0, 0, 0, 0});
  EXPECT_EQ(refusal(std::move(arrays), ErrorKind::input), "X: no ones: every value is zero");
  arrays = cells();
  arrays.values[2] = -1;
  EXPECT_EQ(refusal(std::move(arrays), ErrorKind::input, true),
            "X: the value -1 of row 2 (from 0) is not a count: it must be an integer from 0 to 2^62");
  arrays = cells();
  arrays.values[2] = std::int64_t{1} << 62;
  EXPECT_TRUE(holds(refusal(std::move(arrays), ErrorKind::input, true), "X: the counts add up to more than 2^62"));
  arrays = cells();
  arrays.missing = buffer({1, 1});
  EXPECT_TRUE(holds(refusal(std::move(arrays), ErrorKind::input),
                    "missing: the cell (ann, y) is listed as missing but is a one in X"));
  arrays = cells();
  arrays.missing_slices = {{2}, {}};
  EXPECT_TRUE(holds(refusal(std::move(arrays), ErrorKind::input),
                    "missing entities: user \"bob\" is listed as missing but has 1 one in X"));
  arrays = cells();
  arrays.missing_slices = {{0, 1, 2, 3}, {}};
  EXPECT_TRUE(holds(refusal(std::move(arrays), ErrorKind::input), "missing entities: all 4 entities of mode user"));
  arrays = cells();
  arrays.networks.push_back(edges("friends", {1, 1}));
  EXPECT_TRUE(holds(refusal(std::move(arrays), ErrorKind::input), "friends: no edge between two different entities"));
  arrays = cells();
  arrays.networks.push_back(edges("friends", {1, 2}, {2, 1}));
  EXPECT_TRUE(holds(refusal(std::move(arrays), ErrorKind::input),
                    "friends (missing): the pair (ann, bob) is listed as missing but is an edge in friends"));
}

}  // namespace
}  // namespace ztp::test
