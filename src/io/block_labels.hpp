// The distinct labels of one column of one block of text, in order of first appearance.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "tensor/label_hash.hpp"

namespace ztp {

// Labels are not copied: they point into the block of text, which must outlive them.
class BlockLabels {
 public:
  struct Entry {
    const char* text;
    std::uint32_t size;
    std::uint32_t hash;
    std::string_view label() const { return {text, size}; }
  };

  std::size_t size() const { return entries_.size(); }
  const Entry& operator[](std::size_t id) const { return entries_[id]; }
  void clear() {
    entries_.clear();
    std::fill(slots_.begin(), slots_.end(), Slot{});
  }

  // The id of the label within the block. A label is at most max_line_bytes long, so its size fits.
  std::uint32_t add(std::string_view label) {
    if (2 * (entries_.size() + 1) > slots_.size()) grow();
    const std::uint32_t hash = label_hash(label);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
      if (slots_[slot].next_id == 0) {
        entries_.push_back({label.data(), static_cast<std::uint32_t>(label.size()), hash});
        slots_[slot] = {hash, static_cast<std::uint32_t>(entries_.size())};
        return slots_[slot].next_id - 1;
      }
      if (slots_[slot].hash == hash && entries_[slots_[slot].next_id - 1].label() == label)
        return slots_[slot].next_id - 1;
    }
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t next_id = 0;  // id + 1, or 0 for free
  };

  void grow() {
    slots_.assign(std::max<std::size_t>(256, 2 * slots_.size()), Slot{});
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t id = 0; id < entries_.size(); ++id) {
      std::size_t slot = entries_[id].hash & mask;
      while (slots_[slot].next_id != 0) slot = (slot + 1) & mask;
      slots_[slot] = {entries_[id].hash, static_cast<std::uint32_t>(id + 1)};
    }
  }

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;  // open addressing, at most half full
};

}  // namespace ztp
