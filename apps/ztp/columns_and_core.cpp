#include "columns_and_core.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "model/layout_options.hpp"

namespace ztp::app {
namespace {

// The column of an entry in a mode, or the label of its entity.
nlohmann::ordered_json in_mode(const std::vector<std::size_t>& columns, std::size_t k, const Posterior& posterior) {
  if (has_own_columns(posterior.info(), k))
    return posterior.modes()[k].labels[static_cast<std::uint32_t>(columns[k] - 1)];
  return columns[k];
}

std::string in_mode_text(const std::vector<std::size_t>& columns, std::size_t k, const Posterior& posterior) {
  const nlohmann::ordered_json shown = in_mode(columns, k, posterior);
  return shown.is_string() ? shown.get<std::string>() : shown.dump();
}

template <class Item>
void add_numbers(const Item& item, nlohmann::ordered_json& json) {
  json["weight"] = item.weight;
  json["weight_q05"] = item.weight_q05;
  json["weight_q95"] = item.weight_q95;
  json["stability"] = item.stability;  // null, if it is not a number
}

// The modes that use each matrix whose columns are drawn.
std::vector<std::vector<std::size_t>> modes_of_matrices(const RunInfo& info) {
  std::vector<std::vector<std::size_t>> result;
  for (std::size_t k = 0; k < info.modes.size(); ++k) {
    const std::size_t tied = tied_mode(info, k);
    if (tied < k || has_own_columns(info, k)) continue;  // its columns are those of the other mode, or entities
    result.push_back({k});
    if (tied > k) result.back().push_back(tied);
  }
  return result;
}

std::string names_of(const std::vector<std::size_t>& modes, const RunInfo& info) {
  std::string names;
  for (const std::size_t k : modes) names += (names.empty() ? "" : ", ") + info.modes[k].name;
  return names;
}

}  // namespace

std::string stability_text(double stability, const RunInfo& info) {
  if (info.options.chains == 1) return "";
  return std::isnan(stability) ? ", stability -" : fmt::format(", stability {:.2f}", stability);
}

bool has_own_columns(const RunInfo& info, std::size_t mode) {
  return info.options.columns[mode] == info.modes[mode].name + "=own";
}

std::size_t tied_mode(const RunInfo& info, std::size_t mode) {
  std::vector<ModeSize> sizes;
  for (const RunInfo::ModeInfo& other : info.modes) sizes.push_back({other.name, other.size});
  return tied_modes(info.options, sizes)[mode];
}

nlohmann::ordered_json entry_json(const std::vector<std::size_t>& columns, const Posterior& posterior) {
  nlohmann::ordered_json json;
  for (std::size_t k = 0; k < columns.size(); ++k) json[posterior.modes()[k].name] = in_mode(columns, k, posterior);
  return json;
}

std::string entry_text(const std::vector<std::size_t>& columns, const Posterior& posterior) {
  std::string text;
  for (std::size_t k = 0; k < columns.size(); ++k) text += (k == 0 ? "(" : ", ") + in_mode_text(columns, k, posterior);
  return text + ")";
}

ColumnsAndCore::ColumnsAndCore(Posterior& posterior, std::size_t top, std::size_t chain, bool all)
    : posterior_(posterior) {
  for (const std::vector<std::size_t>& modes : modes_of_matrices(posterior.info())) {
    matrices_.push_back({modes, posterior.columns(modes.front(), top, chain)});
    if (!all)
      std::erase_if(matrices_.back().columns, [](const Column& column) { return column.weight < weight_of_empty; });
  }
  core_ = posterior.core(chain);
}

void ColumnsAndCore::print() const {
  const RunInfo& info = posterior_.info();
  for (const auto& [modes, columns] : matrices_)
    for (const Column& column : columns) {
      fmt::print("column {} of {}: weight {:.1f} [{:.1f}, {:.1f}]{}\n", column.number, names_of(modes, info),
                 column.weight, column.weight_q05, column.weight_q95, stability_text(column.stability, info));
      for (const auto& entity : column.top)
        fmt::print("    {:.4f}  {}\n", entity.value, posterior_.modes()[modes.front()].labels[entity.id]);
    }
  const bool several = info.options.chains > 1;
  fmt::print("core\n");
  for (const Mode& mode : posterior_.modes()) fmt::print("{}\t", mode.name);
  fmt::print("weight\tq05\tq95{}\n", several ? "\tstability" : "");
  for (const CoreEntry& entry : core_) {
    for (std::size_t k = 0; k < entry.columns.size(); ++k)
      fmt::print("{}\t", in_mode_text(entry.columns, k, posterior_));
    fmt::print("{:.1f}\t{:.1f}\t{:.1f}", entry.weight, entry.weight_q05, entry.weight_q95);
    fmt::print("{}\n", several ? fmt::format("\t{:.2f}", entry.stability) : "");
  }
}

void MentionedColumns::add(const std::vector<std::size_t>& columns) {
  columns_.resize(columns.size());
  for (std::size_t k = 0; k < columns.size(); ++k) columns_[k].insert(columns[k]);
}

void MentionedColumns::print() const {
  constexpr std::size_t entities = 5;
  if (columns_.empty()) return;
  for (const std::vector<std::size_t>& modes : modes_of_matrices(posterior_.info()))
    for (const Column& column : posterior_.columns(modes.front(), entities, posterior_.chains().front())) {
      bool mentioned = false;
      for (const std::size_t k : modes) mentioned = mentioned || columns_[k].contains(column.number);
      std::string labels;
      for (const auto& entity : column.top)
        labels += (labels.empty() ? "" : ", ") + posterior_.modes()[modes.front()].labels[entity.id];
      if (mentioned) fmt::print("# column {} of {}: {}\n", column.number, names_of(modes, posterior_.info()), labels);
    }
}

nlohmann::ordered_json ColumnsAndCore::json() const {
  nlohmann::ordered_json json = {{"columns", nlohmann::ordered_json::array()},
                                 {"core", nlohmann::ordered_json::array()}};
  for (const auto& [modes, columns] : matrices_)
    for (const Column& column : columns) {
      nlohmann::ordered_json item;
      for (const std::size_t k : modes) item["modes"].push_back(posterior_.modes()[k].name);
      item["column"] = column.number;
      add_numbers(column, item);
      for (const auto& entity : column.top)
        item["top"].push_back(
            {{"label", posterior_.modes()[modes.front()].labels[entity.id]}, {"value", entity.value}});
      json["columns"].push_back(item);
    }
  for (const CoreEntry& entry : core_) {
    nlohmann::ordered_json item = {{"columns", entry_json(entry.columns, posterior_)}};
    add_numbers(entry, item);
    json["core"].push_back(item);
  }
  return json;
}

}  // namespace ztp::app
