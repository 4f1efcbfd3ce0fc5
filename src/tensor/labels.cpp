#include "ztp/labels.hpp"

#include <algorithm>
#include <charconv>

#include "base/errors.hpp"
#include "tensor/label_hash.hpp"

namespace ztp {

constexpr std::size_t least_slots = 64;

LabelTable LabelTable::numbered(std::uint32_t first, std::uint32_t size) {
  LabelTable table;
  table.numbered_ = true;
  table.first_ = first;
  table.size_ = size;
  return table;
}

LabelTable LabelTable::listed(std::string characters, std::vector<std::uint64_t> ends) {
  if (ends.size() > max_mode_size) throw input_error("a mode has more than {} entities", max_mode_size);
  if (!std::is_sorted(ends.begin(), ends.end()) || (ends.empty() ? 0 : ends.back()) != characters.size())
    throw input_error("the ends of the labels do not match the text of the list");
  LabelTable table;
  table.size_ = static_cast<std::uint32_t>(ends.size());
  table.characters_ = std::move(characters);
  table.ends_ = std::move(ends);
  return table;
}

LabelTable LabelTable::unnamed(std::uint32_t size) {
  LabelTable table;
  table.size_ = size;
  return table;
}

void LabelTable::index() {
  if (is_indexed()) return;
  std::size_t slots = least_slots;
  while (slots < 2 * static_cast<std::size_t>(size_)) slots *= 2;
  slots_.resize(slots);
  for (std::uint32_t id = 0; id < size_; ++id) {
    const std::uint32_t hash = label_hash(named(id));
    Slot& slot = slots_[slot_of(named(id), hash)];
    if (slot.next_id != 0) {
      slots_ = {};  // half an index would be taken for a whole one
      throw input_error("label \"{}\" is listed twice", named(id));
    }
    slot = {hash, id + 1};
  }
}

void LabelTable::require_index() const {
  if (!is_indexed()) throw usage_error("a label is looked up in a list without an index; call index() first");
}

std::string_view LabelTable::name(std::uint32_t id, std::string& scratch) const {
  if (!numbered_ && ends_.empty()) throw usage_error("a label of a mode whose labels are not in memory");
  if (numbered_) {
    scratch = std::to_string(static_cast<std::uint64_t>(first_) + id);
    return scratch;
  }
  return named(id);
}

std::string LabelTable::operator[](std::uint32_t id) const {
  std::string scratch;
  return std::string(name(id, scratch));
}

std::size_t LabelTable::slot_of(std::string_view label, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot].next_id != 0 && (slots_[slot].hash != hash || named(slots_[slot].next_id - 1) != label))
    slot = (slot + 1) & mask;
  return slot;
}

void LabelTable::prefetch(std::uint32_t hash) const {
  if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
}

std::optional<std::uint32_t> LabelTable::find(std::string_view label) const {
  if (numbered_) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
    const bool canonical = label.size() == 1 || (!label.empty() && label[0] != '0');
    if (error != std::errc() || end != label.data() + label.size() || !canonical) return std::nullopt;
    if (number < first_ || number - first_ >= size_) return std::nullopt;
    return static_cast<std::uint32_t>(number - first_);
  }
  if (slots_.empty()) {
    require_index();
    return std::nullopt;
  }
  const std::uint32_t next_id = slots_[slot_of(label, label_hash(label))].next_id;
  if (next_id == 0) return std::nullopt;
  return next_id - 1;
}

std::uint32_t LabelTable::add(std::string_view label) {
  return add(label, label_hash(label));
}

std::uint32_t LabelTable::add(std::string_view label, std::uint32_t hash) {
  if (2 * (static_cast<std::size_t>(size_) + 1) > slots_.size()) {
    require_index();
    rehash(std::max(least_slots, 2 * slots_.size()));
  }
  Slot& slot = slots_[slot_of(label, hash)];
  if (slot.next_id != 0) return slot.next_id - 1;
  if (size_ == max_mode_size) throw input_error("a mode has more than {} entities", max_mode_size);
  characters_.append(label);
  ends_.push_back(characters_.size());
  slot = {hash, ++size_};
  return size_ - 1;
}

// The kept hashes are enough: the names need not be read again.
void LabelTable::rehash(std::size_t slots) {
  std::vector<Slot> grown(slots);
  const std::size_t mask = slots - 1;
  for (const Slot& old : slots_) {
    if (old.next_id == 0) continue;
    std::size_t slot = old.hash & mask;
    while (grown[slot].next_id != 0) slot = (slot + 1) & mask;
    grown[slot] = old;
  }
  slots_.swap(grown);
}

std::size_t LabelTable::bytes() const {
  return characters_.capacity() + ends_.capacity() * sizeof(ends_[0]) + slots_.capacity() * sizeof(slots_[0]);
}

}  // namespace ztp
