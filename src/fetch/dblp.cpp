#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "fetch/data_sets.hpp"

namespace ztp {
namespace {

// The entities of a mode, in the order of their file: id TAB name.
struct Entities {
  std::vector<std::uint64_t> source_ids;
  std::vector<std::string> labels;
  std::vector<std::string> areas;
  std::vector<std::uint64_t> papers;
  std::unordered_map<std::uint64_t, std::uint32_t> index;  // by source id
};

// Names of people are not taken over: they are not needed, and some of them are damaged in the source.
Entities read_entities(const Sources& sources, const std::string& file, bool people) {
  Entities entities;
  read_lines(file, sources.at(file).bytes, {'\t', 2, true}, [&](const SourceLine& line) {
    const auto place = static_cast<std::uint32_t>(entities.labels.size());
    if (!entities.index.emplace(line.number(0), place).second)
      line.fail(0, fmt::format("id {} is there twice", line[0]));
    entities.source_ids.push_back(line.number(0));
    entities.labels.push_back(people ? fmt::format("author{:05}", place + 1) : line.label(1));
  });
  make_distinct(entities.labels, entities.source_ids);
  entities.papers.resize(entities.labels.size());
  return entities;
}

// id TAB number of the area TAB name
void read_areas(const Sources& sources, const std::string& file, Entities& entities) {
  static const char* const names[] = {"Database", "Data Mining", "AI", "Information Retrieval"};
  entities.areas.assign(entities.labels.size(), "-");
  read_lines(file, sources.at(file).bytes, {'\t', 2, true}, [&](const SourceLine& line) {
    const char* area = names[line.number(1, 3)];
    const auto found = entities.index.find(line.number(0));
    if (found != entities.index.end()) entities.areas[found->second] = area;
  });
}

using Papers = std::map<std::uint64_t, std::vector<std::uint32_t>>;

// paper TAB entity. Each entity of a paper once; ids that are not in the list of entities are left out and counted.
Papers read_papers(const Sources& sources, const std::string& file, Entities& entities, Converted& result) {
  Papers papers;
  std::uint64_t unknown = 0;
  read_lines(file, sources.at(file).bytes, {'\t', 2, true}, [&](const SourceLine& line) {
    const auto found = entities.index.find(line.number(1));
    if (found == entities.index.end())
      ++unknown;
    else
      papers[line.number(0)].push_back(found->second);
  });
  for (auto& [paper, list] : papers) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    for (const std::uint32_t entity : list) ++entities.papers[entity];
  }
  if (unknown > 0)
    result.notes.push_back(fmt::format("{}: {} lines with ids that are not listed were left out", file, unknown));
  return papers;
}

std::string table_of(const std::string& header, const Entities& entities) {
  std::string text = header;
  for (std::size_t j = 0; j < entities.labels.size(); ++j)
    text += fmt::format("{}\t{}\t{}{}\n", entities.labels[j], entities.source_ids[j],
                        entities.areas.empty() ? "" : entities.areas[j] + "\t", entities.papers[j]);
  return text;
}

// (a, t, v): author a has a paper at venue v whose title has term t.
Cells<3> join(const Papers& by_author, const Papers& by_term, const Papers& by_venue) {
  Cells<3> ones;
  for (const auto& [paper, authors] : by_author) {
    const auto terms = by_term.find(paper), venues = by_venue.find(paper);
    if (terms == by_term.end() || venues == by_venue.end()) continue;
    for (const std::uint32_t author : authors)
      for (const std::uint32_t term : terms->second)
        for (const std::uint32_t venue : venues->second) ones.push_back({author, term, venue});
  }
  sort_and_merge(ones);
  return ones;
}

Cells<2> co_authors(const Papers& by_author) {
  Cells<2> edges;
  for (const auto& [paper, authors] : by_author)
    for (std::size_t i = 0; i < authors.size(); ++i)
      for (std::size_t j = i + 1; j < authors.size(); ++j) edges.push_back({authors[i], authors[j]});
  sort_and_merge(edges);
  return edges;
}

}  // namespace

Converted convert_dblp(const Sources& sources) {
  Converted result;
  Entities authors = read_entities(sources, "author.txt", true);
  Entities terms = read_entities(sources, "term.txt", false);
  Entities venues = read_entities(sources, "conf.txt", false);
  read_areas(sources, "author_label.txt", authors);
  read_areas(sources, "conf_label.txt", venues);
  const Papers by_author = read_papers(sources, "paper_author.txt", authors, result);
  const Papers by_term = read_papers(sources, "paper_term.txt", terms, result);
  const Papers by_venue = read_papers(sources, "paper_conf.txt", venues, result);
  const Cells<3> ones = join(by_author, by_term, by_venue);
  const Cells<2> edges = co_authors(by_author);
  result.files = {
      {"tensor.tsv.gz", text_of<3>("author\tterm\tvenue", ones, {&authors.labels, &terms.labels, &venues.labels})},
      {"network-author.tsv.gz", text_of<2>("author\tauthor", edges, {&authors.labels, &authors.labels})},
      {"author-labels.tsv", table_of("#author\tsource_id\tarea\tpapers\n", authors)},
      {"term-labels.tsv", table_of("#term\tsource_id\tpapers\n", terms)},
      {"venue-labels.tsv", table_of("#venue\tsource_id\tarea\tpapers\n", venues)}};
  result.modes = {{"author", authors.labels.size()}, {"term", terms.labels.size()}, {"venue", venues.labels.size()}};
  result.ones = ones.size();
  result.edges = edges.size();
  return result;
}

}  // namespace ztp
