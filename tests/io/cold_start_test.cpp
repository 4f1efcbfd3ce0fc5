// Entities that only a network, a list of labels or missing data name: they are added to their modes, and told.
// What is refused: tests/bad_inputs.
#include <gtest/gtest.h>

#include "missing_data.hpp"
#include "tables.hpp"

namespace ztp::test {
namespace {

// ann, bob, cid by x, y.
class ColdStart : public testing::Test {
 protected:
  ColdStart() { options_.file = write("ones.tsv", "#user\titem\nann\tx\nbob\ty\ncid\tx\n"); }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(dir_ / name, std::ios::binary) << text;
    return dir_ / name;
  }
  static std::vector<std::string> labels(const Dataset& data, std::size_t k) {
    std::vector<std::string> names;
    for (std::uint32_t j = 0; j < data.tensor.modes[k].labels.size(); ++j)
      names.push_back(data.tensor.modes[k].labels[j]);
    return names;
  }
  std::string notes(const Dataset& data) const {
    std::string text;
    for (std::string note : data.notes) {
      for (std::size_t at; (at = note.find(dir_ / "")) != note.npos;) note.erase(at, (dir_ / "").size());
      text += note + "\n";
    }
    return text;
  }

  TempDir dir_;
  ReadOptions options_;
};

TEST_F(ColdStart, ANetworkAddsItsEntities) {
  options_.networks = {"user=" + write("friends.tsv", "bob\tann\nzoe\tann\ncid\teve\n")};
  const Dataset data = read_dataset(options_);
  EXPECT_EQ(labels(data, 0), (Names{"ann", "bob", "cid", "zoe", "eve"}));
  EXPECT_EQ(ids(data.networks[0].edges), (Ids{0, 1, 0, 3, 2, 4}));
  EXPECT_EQ(notes(data), "friends.tsv: adds 2 entities to mode user, of the 5 that it names\n");
  EXPECT_TRUE(data.warnings.empty());
}

TEST_F(ColdStart, ANetworkOfMostlyNewEntitiesIsWorthAWarning) {
  options_.networks = {"user=" + write("friends.tsv", "ann\tpat\nquin\trae\n")};
  const Dataset data = read_dataset(options_);
  EXPECT_EQ(data.tensor.modes[0].labels.size(), 6u);
  EXPECT_TRUE(data.notes.empty());
  ASSERT_EQ(data.warnings.size(), 1u);
  EXPECT_NE(data.warnings[0].find("adds 3 entities to mode user, of the 4 that it names; is it the right file?"),
            std::string::npos)
      << data.warnings[0];
}

TEST_F(ColdStart, ListsOfMissingDataAddTheirEntities) {
  options_.missing_slices = {"user=" + write("new.txt", "zoe\neve\n"), "item=" + write("new.csv", "item,price\nw,3\n")};
  options_.missing = write("cells.csv", "user,item\nann,v\nfay,x\nzoe,x\n");
  const Dataset data = read_dataset(options_);
  EXPECT_EQ(labels(data, 0), (Names{"ann", "bob", "cid", "zoe", "eve", "fay"}));
  EXPECT_EQ(labels(data, 1), (Names{"x", "y", "w", "v"}));
  EXPECT_EQ(data.missing.slices[0], (std::vector<std::uint32_t>{3, 4}));
  EXPECT_EQ(data.missing.slices[1], (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(ids(data.missing.cells), (Ids{0, 3, 5, 0}));  // (zoe, x) lies in a slice
  EXPECT_EQ(notes(data),
            "new.txt: adds 2 entities to mode user\n"
            "new.csv: adds 1 entity to mode item\n"
            "cells.csv: adds 1 entity to mode user, of the 3 that it names\n"
            "cells.csv: adds 1 entity to mode item, of the 2 that it names\n");
}

TEST_F(ColdStart, LabelsNeedNotBeComplete) {
  options_.labels = {"user=" + write("users.txt", "zoe\ncid\nbob\n")};
  const Dataset data = read_dataset(options_);
  EXPECT_EQ(labels(data, 0), (Names{"zoe", "cid", "bob", "ann"}));
  EXPECT_EQ(ids(data.tensor.coords), (Ids{1, 0, 2, 1, 3, 0}));
  EXPECT_NE(notes(data).find("users.txt: adds 1 entity without ones to mode user\n"), std::string::npos);
  EXPECT_NE(notes(data).find("in mode user; it comes after the listed ones\n"), std::string::npos) << notes(data);
}

TEST_F(ColdStart, ListsAreReadCompressedAndAsCsv) {
  options_.labels = {"user=" + write("users.csv", "name,age\n\"zoe, the \"\"old\"\"\",70\nann,20\n")};
  EXPECT_EQ(labels(read_dataset(options_), 0), (Names{"zoe, the \"old\"", "ann", "bob", "cid"}));
  options_.labels = {"user=" + write("users.txt.gz", gzip("#name\r\nzoe, the old\t70\r\nann\t20\r\n"))};
  EXPECT_EQ(labels(read_dataset(options_), 0), (Names{"zoe, the old", "ann", "bob", "cid"}));
}

TEST_F(ColdStart, ModesOfNumbersGrowToTheLargest) {
  options_.file = write("ones.tns", "1 1 1\n2 2 1\n3 3 1\n");
  options_.networks = {"mode1=" + write("net.tns", "1 2 1\n1 6 1\n"), "mode2=" + write("net.tsv", "3\t5\n")};
  options_.missing_slices = {"mode1=" + write("new.txt", "8\n")};
  const Dataset data = read_dataset(options_);
  EXPECT_EQ(data.tensor.sizes(), (std::vector<std::uint32_t>{8, 5}));
  EXPECT_TRUE(data.tensor.modes[0].labels.is_numbered());
  EXPECT_EQ(ids(data.networks[0].edges), (Ids{0, 1, 0, 5}));
  EXPECT_EQ(ids(data.networks[1].edges), (Ids{2, 4}));
  EXPECT_EQ(data.missing.slices[0], (std::vector<std::uint32_t>{7}));
  EXPECT_EQ(notes(data),
            "net.tns: adds 3 entities to mode mode1\nnet.tsv: adds 2 entities to mode mode2\n"
            "new.txt: adds 2 entities to mode mode1\n");
}

TEST_F(ColdStart, IndicesOfANetworkAreTheLabelsThatTheySpell) {
  options_.file = write("ones.tsv", "7\tx\n9\ty\n2\tx\n");
  options_.networks = {"mode1=" +
                       write("net.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n30 30 2\n9 7\n30 2\n")};
  const Dataset data = read_dataset(options_);
  EXPECT_EQ(labels(data, 0), (Names{"7", "9", "2", "30"}));
  EXPECT_EQ(ids(data.networks[0].edges), (Ids{0, 1, 2, 3}));
}

TEST_F(ColdStart, TiedModesKeepTheSameEntities) {
  options_.file = write("facts.tsv", "#subject\trelation\tobject\nann\tlikes\tbob\nbob\tlikes\tcid\n");
  options_.tie = {"subject=object"};
  options_.networks = {"object=" + write("net.tsv", "zoe\tbob\n")};
  options_.missing = write("cells.tsv", "eve\tlikes\tann\nann\tlikes\tfay\n");
  const Dataset data = read_dataset(options_);
  EXPECT_EQ(labels(data, 0), (Names{"ann", "bob", "cid", "zoe", "eve", "fay"}));
  EXPECT_EQ(labels(data, 2), labels(data, 0));
  EXPECT_EQ(ids(data.missing.cells), (Ids{0, 0, 5, 4, 0, 0}));
}

TEST_F(ColdStart, WhatIsAddedDoesNotDependOnThreads) {
  std::string ones = "#user\titem\n", edges;
  for (int i = 0; i < 40000; ++i) ones += "u" + std::to_string(i % 5000) + "\ti" + std::to_string(i % 97) + "\n";
  for (int i = 0; i < 60000; ++i) edges += "u" + std::to_string(i % 7001) + "\tv" + std::to_string(i % 3001) + "\n";
  options_.file = write("many.tsv", ones);
  options_.networks = {"user=" + write("edges.tsv", edges)};
  const Dataset one = read_dataset(options_);
  options_.threads = 3;
  const Dataset three = read_dataset(options_);
  EXPECT_EQ(one.tensor.modes[0].labels.size(), 7001u + 3001u);
  EXPECT_EQ(labels(one, 0), labels(three, 0));
  EXPECT_EQ(ids(one.networks[0].edges), ids(three.networks[0].edges));
}

}  // namespace
}  // namespace ztp::test
