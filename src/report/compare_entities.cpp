#include <algorithm>
#include <cmath>
#include <limits>

#include "report/compare.hpp"
#include "report/entity_order.hpp"
#include "report/mean_factor.hpp"
#include "report/numbers.hpp"

namespace ztp {
namespace {

constexpr std::size_t most_differences = 6;
constexpr int digits = 4;

// For each entity of a mode the same one of another run.
std::vector<std::optional<std::uint32_t>> same_entities(const LabelTable& labels, const LabelTable& others) {
  std::vector<std::optional<std::uint32_t>> result;
  std::string scratch;
  for (std::uint32_t j = 0; j < labels.size(); ++j) result.push_back(others.find(labels.name(j, scratch)));
  return result;
}

// An entity of one run or of both.
struct Entity {
  std::optional<std::uint32_t> a, b;
  bool operator==(const Entity&) const = default;
};

// A mode of both runs, and what components have of its entities.
class ComparedMode {
 public:
  ComparedMode(ComparedRun& a, std::size_t k, ComparedRun& b, std::size_t l)
      : k_(k),
        l_(l),
        mode_a_(a.posterior.modes()[k]),
        mode_b_(b.posterior.modes()[l]),
        in_b_(same_entities(mode_a_.labels, mode_b_.labels)),
        in_a_(same_entities(mode_b_.labels, mode_a_.labels)),
        u_(a.posterior, k, a.chain),
        v_(b.posterior, l, b.chain) {
    a.only[k] = static_cast<std::uint32_t>(std::count(in_b_.begin(), in_b_.end(), std::nullopt));
    b.only[l] = static_cast<std::uint32_t>(std::count(in_a_.begin(), in_a_.end(), std::nullopt));
    if (looks_ordered(mode_a_) && looks_ordered(mode_b_) && in_b_.size() + b.only[l] <= most_in_a_line) make_line();
  }

  Json entities(const ComparedPair& pair) const {
    std::vector<Entity> chosen;
    if (pair.a != nullptr)
      for (const Component::Entity& entity : pair.a->top[k_]) chosen.push_back({entity.id, in_b_[entity.id]});
    if (pair.b != nullptr)
      for (const Component::Entity& entity : pair.b->top[l_]) chosen.push_back({in_a_[entity.id], entity.id});
    for (const Entity& entity : most_different(pair)) chosen.push_back(entity);
    std::vector<Entity> each;
    for (const Entity& entity : chosen)
      if (std::find(each.begin(), each.end(), entity) == each.end()) each.push_back(entity);
    const auto larger = [&](const Entity& entity) { return std::fmax(in_a(pair, entity), in_b(pair, entity)); };
    std::stable_sort(each.begin(), each.end(), [&](const Entity& x, const Entity& y) { return larger(x) > larger(y); });
    Json result = Json::array();
    for (const Entity& entity : each)
      result.push_back({label(entity), number(in_a(pair, entity), digits), number(in_b(pair, entity), digits)});
    return result;
  }

  Json differs(const ComparedPair& pair) const {
    Json result = Json::array();
    for (const Entity& entity : most_different(pair))
      result.push_back({label(entity), number(std::fmax(in_a(pair, entity), 0), digits),
                        number(std::fmax(in_b(pair, entity), 0), digits)});
    return result;
  }

  Json line(const ComparedPair& pair) const {
    if (line_.empty()) return nullptr;
    Json labels = Json::array(), of_a = Json::array(), of_b = Json::array();
    for (const Entity& entity : line_) {
      labels.push_back(label(entity));
      of_a.push_back(number(in_a(pair, entity), digits));
      of_b.push_back(number(in_b(pair, entity), digits));
    }
    return {{"labels", std::move(labels)},
            {"a", pair.a != nullptr ? std::move(of_a) : Json()},
            {"b", pair.b != nullptr ? std::move(of_b) : Json()}};
  }

 private:
  std::string label(const Entity& entity) const {
    return entity.a ? mode_a_.labels[*entity.a] : mode_b_.labels[*entity.b];
  }
  // NaN, which is null on the page: there is no such entity, or no component.
  double in_a(const ComparedPair& pair, const Entity& entity) const { return part(u_, pair.a, entity.a); }
  double in_b(const ComparedPair& pair, const Entity& entity) const { return part(v_, pair.b, entity.b); }
  static double part(const MeanFactor& u, const Component* component, const std::optional<std::uint32_t>& id) {
    if (component == nullptr || !id) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(u(*id, component->number - 1));
  }

  // All entities in their order, those of both runs together.
  void make_line() {
    LabelTable all;
    std::vector<Entity> entities;
    const auto add = [&](const Entity& entity) {
      all.add(label(entity));
      entities.push_back(entity);
    };
    for (std::uint32_t j = 0; j < in_b_.size(); ++j) add({j, in_b_[j]});
    for (std::uint32_t j = 0; j < in_a_.size(); ++j)
      if (!in_a_[j]) add({std::nullopt, j});
    for (const std::uint32_t id : ids_in_order(all)) line_.push_back(entities[id]);
  }

  // Those whose parts differ most, if there are two components; one that a run does not have has none there.
  std::vector<Entity> most_different(const ComparedPair& pair) const {
    if (pair.a == nullptr || pair.b == nullptr) return {};
    std::vector<std::pair<double, Entity>> most;  // largest first
    const auto offer = [&](const Entity& entity) {
      const double size = std::abs(std::fmax(in_a(pair, entity), 0) - std::fmax(in_b(pair, entity), 0));
      if (size == 0 || (most.size() == most_differences && size <= most.back().first)) return;
      if (most.size() == most_differences) most.pop_back();
      most.insert(std::upper_bound(most.begin(), most.end(), size,
                                   [](double value, const auto& other) { return value > other.first; }),
                  {size, entity});
    };
    for (std::uint32_t j = 0; j < in_b_.size(); ++j) offer({j, in_b_[j]});
    for (std::uint32_t j = 0; j < in_a_.size(); ++j)
      if (!in_a_[j]) offer({std::nullopt, j});
    std::vector<Entity> result;
    for (const auto& [size, entity] : most) result.push_back(entity);
    return result;
  }

  std::size_t k_, l_;
  const Mode &mode_a_, &mode_b_;
  std::vector<std::optional<std::uint32_t>> in_b_, in_a_;  // the same entity of the other run
  MeanFactor u_, v_;
  std::vector<Entity> line_;  // of an ordered mode
};

}  // namespace

std::vector<PairEntities> compare_entities(ComparedRun& a, ComparedRun& b, const std::vector<std::size_t>& other_modes,
                                           const std::vector<ComparedPair>& pairs) {
  std::vector<PairEntities> result(pairs.size());
  for (std::size_t k = 0; k < other_modes.size(); ++k) {
    const ComparedMode mode(a, k, b, other_modes[k]);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (std::find(pairs[i].modes.begin(), pairs[i].modes.end(), k) == pairs[i].modes.end()) continue;
      result[i].entities.push_back(mode.entities(pairs[i]));
      result[i].differs.push_back(mode.differs(pairs[i]));
      result[i].lines.push_back(mode.line(pairs[i]));
    }
  }
  return result;
}

}  // namespace ztp
