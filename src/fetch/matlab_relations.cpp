// Kinship and UMLS: a dense array Rs of objects x objects x relations in a MATLAB file.
#include <fmt/format.h>

#include <set>

#include "fetch/data_sets.hpp"
#include "fetch/mat_file.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

using Arrays = std::map<std::string, MatArray>;

[[noreturn]] void unexpected(const Source& source, const std::string& what) {
  throw Error(ErrorKind::input, fmt::format("{}: {}; it is not the file that is expected", source.url, what));
}

struct Relations {
  std::size_t objects = 0, relations = 0;
  Cells<3> ones;
};

Relations read_relations(const Source& source, const Arrays& arrays) {
  const auto found = arrays.find("Rs");
  if (found == arrays.end()) unexpected(source, "there is no array Rs in it");
  const MatArray& array = found->second;
  if (array.dims.size() != 3 || array.dims[0] != array.dims[1] || array.numbers.empty())
    unexpected(source, "the array Rs is not objects x objects x relations");
  Relations result{.objects = array.dims[0], .relations = array.dims[2], .ones = {}};
  std::size_t at = 0;
  for (std::uint32_t r = 0; r < result.relations; ++r)
    for (std::uint32_t j = 0; j < result.objects; ++j)
      for (std::uint32_t i = 0; i < result.objects; ++i)
        if (array.numbers[at++] == 1) result.ones.push_back({i, j, r});
  sort_and_merge(result.ones);
  return result;
}

std::vector<std::string> numbered(const char* what, std::size_t count) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < count; ++i) labels.push_back(fmt::format("{}{}", what, i));
  return labels;
}

std::vector<std::string> names_of(const Source& source, const Arrays& arrays, const std::string& field,
                                  std::size_t count) {
  const auto found = arrays.find(field);
  const std::size_t given = found == arrays.end() ? 0 : found->second.strings.size();
  if (given != count)
    unexpected(source, fmt::format("{} names in the field {} where {} are expected", given, field, count));
  std::set<std::string> seen;
  for (const std::string& name : found->second.strings)
    if (name.empty() || name.find_first_of("\t\r\n") != std::string::npos || !seen.insert(name).second)
      unexpected(source, fmt::format("a name in the field {} is empty, odd or there twice", field));
  return found->second.strings;
}

// How many ones each relation has.
std::string relation_table(const std::string& header, const Relations& data, const std::vector<std::string>& labels) {
  std::vector<std::uint64_t> ones(data.relations);
  for (const auto& cell : data.ones) ++ones[cell[2]];
  std::string text = header;
  for (std::size_t r = 0; r < labels.size(); ++r) text += fmt::format("{}\t{}\n", labels[r], ones[r]);
  return text;
}

// The columns of a field with a row (or, of a vector, an element) for each object; none if the field has another form.
std::vector<std::vector<double>> columns_of(const Arrays& arrays, const std::string& field, std::size_t objects) {
  const auto found = arrays.find(field);
  if (found == arrays.end() || found->second.dims.size() != 2 || objects == 0) return {};
  const MatArray& array = found->second;
  const bool a_row = array.dims[0] == 1 && array.dims[1] == objects;
  if (array.numbers.empty() || (!a_row && array.dims[0] != objects)) return {};
  std::vector<std::vector<double>> columns;
  for (std::size_t at = 0; at < array.numbers.size(); at += objects)
    columns.emplace_back(array.numbers.begin() + static_cast<std::ptrdiff_t>(at),
                         array.numbers.begin() + static_cast<std::ptrdiff_t>(at + objects));
  return columns;
}

std::string person_table(const Arrays& arrays, const std::vector<std::string>& people) {
  std::vector<std::vector<double>> columns = columns_of(arrays, "atts", people.size());
  if (columns.size() != 1) return {};
  std::string text = "#person\tsection";
  for (std::vector<double>& feature : columns_of(arrays, "features", people.size())) {
    text += fmt::format("\tf{}", columns.size());
    columns.push_back(std::move(feature));
  }
  text += "\n";
  for (std::size_t i = 0; i < people.size(); ++i) {
    text += people[i];
    for (const std::vector<double>& column : columns) text += fmt::format("\t{:.10g}", column[i]);
    text += "\n";
  }
  return text;
}

}  // namespace

Converted convert_kinship(const Sources& sources) {
  const Source& source = sources.at("alyawarradata.mat");
  const Arrays arrays = read_mat_file(source.bytes, {"Rs", "atts", "features"}, max_unpacked_bytes, source.url);
  const Relations data = read_relations(source, arrays);
  const std::vector<std::string> people = numbered("person", data.objects), terms = numbered("term", data.relations);
  Converted result;
  result.files = {{"tensor.tsv.gz", text_of<3>("person_i\tperson_j\tterm", data.ones, {&people, &people, &terms})},
                  {"term-labels.tsv", relation_table("#term\tones\n", data, terms)}};
  std::string table = person_table(arrays, people);
  if (table.empty())
    result.notes.push_back(
        "the fields atts and features have another form than expected: there is no person-labels.tsv");
  else
    result.files.push_back({"person-labels.tsv", std::move(table)});
  result.modes = {{"person_i", data.objects}, {"person_j", data.objects}, {"term", data.relations}};
  result.ones = data.ones.size();
  return result;
}

Converted convert_umls(const Sources& sources) {
  const Source& source = sources.at("uml.mat");
  const Arrays arrays =
      read_mat_file(source.bytes, {"Rs", "names", "relnames", "gnames"}, max_unpacked_bytes, source.url);
  const Relations data = read_relations(source, arrays);
  const std::vector<std::string> concepts = names_of(source, arrays, "names", data.objects);
  const std::vector<std::string> relations = names_of(source, arrays, "relnames", data.relations);
  const auto groups = arrays.find("gnames");
  const bool grouped = groups != arrays.end() && groups->second.strings.size() == concepts.size();
  std::string table = grouped ? "#concept\tsemantic_group\n" : "#concept\n";
  for (std::size_t i = 0; i < concepts.size(); ++i)
    table += grouped ? fmt::format("{}\t{}\n", concepts[i], groups->second.strings[i]) : concepts[i] + "\n";
  Converted result;
  if (!grouped)
    result.notes.push_back("the field gnames is not one name for each concept: there is no column semantic_group");
  result.files = {
      {"tensor.tsv.gz", text_of<3>("concept_i\tconcept_j\trelation", data.ones, {&concepts, &concepts, &relations})},
      {"concept-labels.tsv", std::move(table)},
      {"relation-labels.tsv", relation_table("#relation\tones\n", data, relations)}};
  result.modes = {{"concept_i", data.objects}, {"concept_j", data.objects}, {"relation", data.relations}};
  result.ones = data.ones.size();
  return result;
}

}  // namespace ztp
