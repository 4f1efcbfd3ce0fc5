// A Gibbs scan over the ones: a unit of the latent counts of each, any of them, moves to another component, with u,
// lambda, p, the shares of the columns and the columns of empty components integrated out.                       (M52)
#pragma once
#include <vector>

#include "sampler/column_state.hpp"

namespace ztp {

// A row of counts spread out over all columns, so that each of them is at hand.
class OpenRow {
 public:
  explicit OpenRow(std::size_t columns) : count_(columns, 0.0) {}

  bool is(const SparseRow& row) const { return row_ == &row; }
  void open(SparseRow& row);
  void close();  // writes the counts back; nothing happens, if no row is open
  void add(std::uint32_t column, double by);
  const double* counts() const { return count_.data(); }
  const SparseRow& columns() const { return *row_; }  // some may be zero by now; their counts are in counts()

 private:
  SparseRow* row_ = nullptr;
  std::vector<double> count_;
};

// Components with counts that a cell may belong to, side by side.
struct Candidates {
  std::vector<std::uint32_t> component;
  std::vector<double> count;
  std::vector<std::vector<std::uint32_t>> column;  // of each mode
};

class TokenScan {
 public:
  explicit TokenScan(const Problem& problem);
  virtual ~TokenScan() = default;

  // Changes the parts of ones and the state; afterwards those of ones are not in front of the others any more. Serial:
  // O(ones (components of a cell + columns in use by its rows)).
  void run(LatentParts& parts, Stream stream, ColumnState& state);

 protected:  // for tests that plant bugs
  // One of the components without counts, at random.
  virtual std::size_t pick_empty(const std::vector<std::uint32_t>& empty, Stream& stream) const;
  bool corrects_ties_ = true;  // the second of two tied modes is predicted given the first

 private:
  void begin(ColumnState& state);
  void open_rows(const std::uint32_t* cell);
  void move_unit(std::size_t r, double by);  // in the open rows
  void column_changed(std::size_t f, std::size_t q);
  std::size_t draw_component(const std::uint32_t* cell, Stream& stream);
  void weigh(const std::uint32_t* cell, const Candidates& candidates);
  double new_weight(const std::uint32_t* cell) const;
  double mass_together() const;
  Candidates& candidates_of(std::size_t entity) { return candidates_[state_->one_hot == state_->K ? 0 : entity]; }
  Candidates& candidates_with(std::size_t r);
  void add_candidate(std::size_t r);
  void remove_candidate(std::size_t r);
  double predictive(std::size_t k, std::size_t q) const;
  double tied_predictive(std::size_t q) const;
  std::size_t open_component(const std::uint32_t* cell, Stream& stream);

  ColumnState* state_ = nullptr;
  std::vector<OpenRow> slot_;  // one for each mode
  std::vector<OpenRow*> row_;  // of each mode: its own, or that of the mode it is tied to
  bool same_entity_ = false;   // in both tied modes
  std::size_t first_tied_, second_tied_;
  std::vector<std::vector<double>> divisor_;  // [f][q]: 1 / (n a + S_q)
  std::vector<std::vector<double>> share_;    // [k][q]: h_k(q) / (n a + S_q), and their sums
  std::vector<double> all_shares_;
  std::vector<double> together_;  // [q]: h_k h_l (e - d) d, with d as above and e = 1 / (n a + S_q + 1), and its sum
  double all_together_ = 0;
  std::vector<Candidates> candidates_;  // of each entity of the one-hot mode, or of all cells
  std::vector<std::uint32_t> empty_;    // components without counts
  std::vector<std::uint32_t> place_;    // of each component in its list
  std::vector<double> weights_;
};

}  // namespace ztp
