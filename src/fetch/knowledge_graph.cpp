// FB15k-237: head, relation, tail in three files of an archive.
#include <algorithm>
#include <set>

#include "fetch/data_sets.hpp"
#include "fetch/unpack.hpp"

namespace ztp {
namespace {

using Triple = std::array<std::string, 3>;  // head, tail, relation: the order of the tensor

std::vector<Triple> read_triples(const std::string& file, const std::string& text) {
  std::vector<Triple> triples;
  read_lines(file, text, {'\t', 3}, [&](const SourceLine& line) {
    triples.push_back({line.label(0), line.label(2), line.label(1)});
  });
  return triples;
}

std::string text_of_triples(std::vector<Triple>& triples) {
  std::sort(triples.begin(), triples.end());
  triples.erase(std::unique(triples.begin(), triples.end()), triples.end());
  std::string text = "#entity_i\tentity_j\trelation\n";
  for (const Triple& triple : triples) text += triple[0] + "\t" + triple[1] + "\t" + triple[2] + "\n";
  return text;
}

}  // namespace

Converted convert_fb15k_237(const Sources& sources) {
  const auto& [url, bytes] = sources.at("FB15k-237.tar.gz");
  const std::string tar = inflate_all(bytes, Compression::gzip, max_unpacked_bytes, url);
  const auto files = read_archive(tar, Archive::tar, {"train.txt", "valid.txt", "test.txt"}, max_unpacked_bytes, url);
  std::vector<Triple> all;
  std::vector<OutputFile> splits;
  for (const char* part : {"train", "valid", "test"}) {
    const std::string file = std::string(part) + ".txt";
    std::vector<Triple> triples = read_triples(file + " in FB15k-237.tar.gz", files.at(file));
    all.insert(all.end(), triples.begin(), triples.end());
    if (file != "train.txt") splits.push_back({std::string("split-") + part + ".tsv.gz", text_of_triples(triples)});
  }
  Converted result;
  result.files.push_back({"tensor.tsv.gz", text_of_triples(all)});
  for (OutputFile& split : splits) result.files.push_back(std::move(split));
  std::set<std::string> entities, relations;
  for (const Triple& triple : all) {
    entities.insert({triple[0], triple[1]});
    relations.insert(triple[2]);
  }
  std::string table = "#entity\n";
  for (const std::string& entity : entities) table += entity + "\n";
  result.files.push_back({"entity-labels.tsv", std::move(table)});
  result.modes = {{"entity_i", entities.size()}, {"entity_j", entities.size()}, {"relation", relations.size()}};
  result.ones = all.size();
  return result;
}

}  // namespace ztp
