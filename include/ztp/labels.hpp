// The entities of one mode: names to ids 0..n-1 and back.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ztp {

// Two forms. Named: any strings, in order of first appearance. Numbered: the integers first..first+n-1 written in
// decimal, which need no memory (.tns and .mtx files). A named table that was made from a list at once has no hash
// index until index() is called: a look-up before that is an error, never a wrong answer.
class LabelTable {
 public:
  LabelTable() = default;  // named and empty
  static LabelTable numbered(std::uint32_t first, std::uint32_t size);
  // All names end to end, and where each of them stops. 8 bytes and the characters for each label, and no index. Error
  // (input) if the two do not match, or there are more than max_mode_size labels.
  static LabelTable listed(std::string characters, std::vector<std::uint64_t> ends);
  // A table of so many entities whose names are not in memory. To ask for a name is an error (usage).
  static LabelTable unnamed(std::uint32_t size);
  // Builds the index if there is none. An error of kind input if a label is there twice.
  void index();
  // Whether find() and add() may be called.
  bool is_indexed() const { return numbered_ || size_ == 0 || !slots_.empty(); }

  bool is_numbered() const { return numbered_; }
  std::uint32_t first_number() const { return first_; }  // of the numbered form
  std::uint32_t size() const { return size_; }           // number of entities
  // The label of an id below size(), without a copy: valid until the table changes, or (numbered form) the scratch
  // does.
  std::string_view name(std::uint32_t id, std::string& scratch) const;
  std::string operator[](std::uint32_t id) const;  // the same as a copy
  // The id of a label, if it is there. Error (usage) without an index.
  std::optional<std::uint32_t> find(std::string_view label) const;
  // The id of the label, which is added if it is new. Named form only. Error (input) if there is no room for one more.
  std::uint32_t add(std::string_view label);

  // Internal, for callers that add many labels: the hash is computed once, elsewhere, and fetch() prefetches its slot.
  std::uint32_t add(std::string_view label, std::uint32_t hash);
  void prefetch(std::uint32_t hash) const;
  std::size_t bytes() const;  // memory held

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t next_id = 0;  // id + 1, or 0 for free
  };
  std::string_view named(std::uint32_t id) const {
    const std::uint64_t begin = id == 0 ? 0 : ends_[id - 1];
    return {characters_.data() + begin, ends_[id] - begin};
  }
  std::size_t slot_of(std::string_view label, std::uint32_t hash) const;
  void rehash(std::size_t slots);
  void require_index() const;

  bool numbered_ = false;
  std::uint32_t first_ = 0;
  std::uint32_t size_ = 0;
  std::string characters_;           // all names end to end
  std::vector<std::uint64_t> ends_;  // ends_[id] is where name id stops in characters_
  std::vector<Slot> slots_;          // open addressing, at most half full; the hash spares a look at the name
};

// One mode of a tensor: its name, as in the header of a file, and its entities.
struct Mode {
  std::string name;
  LabelTable labels;
};

inline constexpr std::uint32_t max_mode_size = 1u << 31;  // entities of a mode
inline constexpr std::size_t max_modes = 64;              // of a tensor

}  // namespace ztp
