#include "kernel/ranks/rank_ones.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

namespace ztp {
namespace {

std::vector<std::uint64_t> offsets_of(const std::vector<std::uint64_t>& sizes) {
  std::vector<std::uint64_t> offsets = {0};
  for (const std::uint64_t size : sizes) offsets.push_back(offsets.back() + size);
  return offsets;
}

std::vector<std::size_t> lengths_of(const std::vector<std::vector<std::uint32_t>>& lists) {
  std::vector<std::size_t> lengths;
  for (const auto& list : lists) lengths.push_back(list.size());
  return lengths;
}

// Counts of a row as they travel: the row, how many columns have any, and for each its number and the count; a single
// unit is its column alone.
constexpr std::uint32_t more_than_one = 0x80000000u;

void pack_row(std::uint32_t row, const std::int64_t* values, std::size_t columns, std::vector<std::uint32_t>& words) {
  const std::size_t head = words.size();
  words.insert(words.end(), {row, 0});
  for (std::size_t q = 0; q < columns; ++q) {
    if (values[q] == 0) continue;
    ++words[head + 1];
    if (values[q] == 1) {
      words.push_back(static_cast<std::uint32_t>(q));
      continue;
    }
    const auto bits = static_cast<std::uint64_t>(values[q]);
    words.insert(words.end(), {static_cast<std::uint32_t>(q) | more_than_one, static_cast<std::uint32_t>(bits),
                               static_cast<std::uint32_t>(bits >> 32)});
  }
  if (words[head + 1] == 0) words.resize(head);
}

template <class T>
void add_rows(const std::uint32_t* word, const std::uint32_t* end, Matrix<T>& S) {
  while (word < end) {
    T* const row = S.row(word[0]);
    std::uint32_t left = word[1];
    for (word += 2; left > 0; --left) {
      const std::uint32_t q = *word++;
      std::int64_t count = 1;
      if ((q & more_than_one) != 0) {
        count = static_cast<std::int64_t>(std::uint64_t{word[0]} | std::uint64_t{word[1]} << 32);
        word += 2;
      }
      std::atomic_ref(row[q & ~more_than_one]).fetch_add(static_cast<T>(count), std::memory_order_relaxed);
    }
  }
}

}  // namespace

RankOnes::RankOnes(const HostCells& cells, std::vector<std::size_t> mine, const FactorLayout& layout, Comm& comm,
                   Kernel& host)
    : Ones(cells), comm_(comm), host_(host), mine_(std::move(mine)) {
  const std::size_t K = layout.modes();
  touched_.resize(layout.matrices());
  for (std::size_t k = 0; k < K; ++k)
    for (const std::size_t e : mine_) touched_[layout.matrix(k)].push_back(cells.coords[e * K + k]);
  for (std::size_t f = 0; f < touched_.size(); ++f) {
    std::vector<std::uint32_t>& rows = touched_[f];
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    if (!layout.is_one_hot(f)) continue;
    rows.resize(layout.size(f).rows);  // it would not be one-hot without some of them
    std::iota(rows.begin(), rows.end(), 0u);
  }
  for (const std::size_t e : mine_) {
    for (std::size_t k = 0; k < K; ++k) {
      const std::vector<std::uint32_t>& rows = touched_[layout.matrix(k)];
      const auto found = std::lower_bound(rows.begin(), rows.end(), cells.coords[e * K + k]);
      coords_.push_back(static_cast<std::uint32_t>(found - rows.begin()));
    }
    numbers_.push_back(cells.number(e));
    if (cells.observed != nullptr) observed_.push_back(cells.observed[e]);
  }
  const HostCells here{.coords = coords_.data(),
                       .observed = cells.observed == nullptr ? nullptr : observed_.data(),
                       .count = mine_.size(),
                       .missing = cells.missing,
                       .indexed = cells.indexed,
                       .numbers = numbers_.data()};
  here_ = host.upload(here, layout_here(layout));
}

std::size_t RankOnes::bytes() const {
  std::size_t sum = 4 * coords_.size() + 8 * (observed_.size() + numbers_.size() + mine_.size()) + here_->bytes();
  for (const auto& rows : touched_) sum += 4 * rows.size();
  for (const auto& of_matrix : factors_) sum += of_matrix->bytes();
  for (const auto& of_matrix : counts_) sum += of_matrix->bytes();
  return sum + send_.size() + receive_.size();
}

FactorLayout RankOnes::layout_here(const FactorLayout& layout) const {
  return layout.with_rows(lengths_of(touched_));
}

void RankOnes::plan(std::size_t f, const RowCut& cut) const {
  plans_.resize(touched_.size());
  Plan& plan = plans_[f];
  if (!plan.from.empty()) return;
  const std::size_t ranks = comm_.size();
  const std::vector<std::uint32_t>& rows = touched_[f];
  plan.from.assign(ranks, 0);
  plan.to.assign(ranks, 0);
  std::vector<std::vector<std::uint32_t>> asked(ranks);  // of each owner, by its own numbers
  std::size_t next = 0;
  for (const RowCut::Share& share : cut.shares) {
    plan.from[share.owner] = next;
    for (; next < rows.size() && rows[next] < share.end; ++next)
      asked[share.owner].push_back(static_cast<std::uint32_t>(rows[next] - share.begin));
    plan.to[share.owner] = next;
  }
  std::vector<std::uint64_t> to_each, from_each(ranks);
  std::vector<std::uint32_t> packed;
  for (const auto& of_owner : asked) {
    to_each.push_back(4 * of_owner.size());
    packed.insert(packed.end(), of_owner.begin(), of_owner.end());
  }
  comm_.exchange_sizes(to_each.data(), from_each.data());
  const std::vector<std::uint64_t> offsets = offsets_of(from_each);
  std::vector<std::uint32_t> received(offsets.back() / 4);
  comm_.exchange(packed.data(), to_each.data(), received.data(), from_each.data());
  for (std::size_t rank = 0; rank < ranks; ++rank)
    plan.give.emplace_back(received.begin() + static_cast<std::ptrdiff_t>(offsets[rank] / 4),
                           received.begin() + static_cast<std::ptrdiff_t>(offsets[rank + 1] / 4));
}

std::vector<const Factors*> RankOnes::fetch(const std::vector<const Factors*>& factors, Pool& pool) const {
  const std::size_t ranks = comm_.size();
  std::vector<std::uint64_t> to_each(ranks, 0), from_each(ranks, 0);
  for (std::size_t f = 0; f < factors.size(); ++f) {
    plan(f, of_ranks(*factors[f]).cut());
    const std::uint64_t row_bytes = 4 * factors[f]->columns();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      to_each[rank] += plans_[f].give[rank].size() * row_bytes;
      from_each[rank] += (plans_[f].to[rank] - plans_[f].from[rank]) * row_bytes;
    }
    if (factors_.size() == f)
      factors_.push_back(host_.factors(touched_[f].size(), factors[f]->columns(), {.all = factors[f]->all_rows()}));
  }
  const std::vector<std::uint64_t> send_at = offsets_of(to_each), receive_at = offsets_of(from_each);
  send_.resize(std::max<std::size_t>(send_.size(), send_at.back()));
  receive_.resize(std::max<std::size_t>(receive_.size(), receive_at.back()));
  // A message has the rows of one matrix after those of the other.
  const auto for_rows = [&](const std::vector<std::uint64_t>& at, const auto& rows_of, const auto& body) {
    struct Piece {
      std::size_t f, rank, begin, end;
      std::uint64_t offset;
    };
    std::vector<Piece> pieces;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      std::uint64_t offset = at[rank];
      for (std::size_t f = 0; f < factors.size(); ++f) {
        const Blocks blocks{rows_of(f, rank), 1024};
        for (std::size_t b = 0; b < blocks.count(); ++b)
          pieces.push_back(
              {f, rank, blocks.begin(b), blocks.end(b), offset + blocks.begin(b) * 4 * factors[f]->columns()});
        offset += blocks.total * 4 * factors[f]->columns();
      }
    }
    pool.for_blocks(pieces.size(), [&](std::size_t i) {
      const Piece& piece = pieces[i];
      body(piece.f, piece.rank, Range{piece.begin, piece.end}, piece.offset);
    });
  };
  for_rows(
      send_at, [&](std::size_t f, std::size_t rank) { return plans_[f].give[rank].size(); },
      [&](std::size_t f, std::size_t rank, Range rows, std::uint64_t offset) {
        const Matrix<float>& u = of_ranks(*factors[f]).own.values;
        for (std::size_t i = rows.begin; i < rows.end; ++i, offset += 4 * u.columns())
          std::memcpy(send_.data() + offset, u.row(plans_[f].give[rank][i]), 4 * u.columns());
      });
  comm_.exchange(send_.data(), to_each.data(), receive_.data(), from_each.data());
  for_rows(
      receive_at, [&](std::size_t f, std::size_t rank) { return plans_[f].to[rank] - plans_[f].from[rank]; },
      [&](std::size_t f, std::size_t rank, Range rows, std::uint64_t offset) {
        Matrix<float>& u = on_this_host(*factors_[f]).values;
        for (std::size_t i = rows.begin; i < rows.end; ++i, offset += 4 * u.columns())
          std::memcpy(u.row(plans_[f].from[rank] + i), receive_.data() + offset, 4 * u.columns());
      });
  std::vector<const Factors*> result;
  for (const auto& of_matrix : factors_) result.push_back(of_matrix.get());
  return result;
}

std::vector<Counts*> RankOnes::sums_here(const std::vector<Counts*>& of_all) const {
  std::vector<Counts*> result;
  for (std::size_t f = 0; f < of_all.size(); ++f) {
    if (counts_.size() == f) {
      const bool wide = of_ranks(*of_all[f]).own.wide();
      counts_.push_back(host_.counts(touched_[f].size(), of_all[f]->columns(), wide));
    }
    result.push_back(counts_[f].get());
  }
  return result;
}

void RankOnes::give_back(const std::vector<Counts*>& of_all, const std::vector<std::int64_t>& most, Pool& pool) const {
  const std::size_t ranks = comm_.size(), matrices = of_all.size();
  for (std::size_t f = 0; f < matrices; ++f) plan(f, of_ranks(*of_all[f]).cut());
  std::vector<std::vector<std::uint32_t>> words(ranks * matrices);  // for each owner and matrix
  pool.for_blocks(words.size(), [&](std::size_t i) {
    const std::size_t owner = i / matrices, f = i % matrices, P = of_all[f]->columns();
    const Plan& plan = plans_[f];
    const RowCut& cut = of_ranks(*of_all[f]).cut();
    const std::size_t begin = cut.of(owner).begin;
    std::vector<std::int64_t> values(P);
    for (std::size_t j = plan.from[owner]; j < plan.to[owner]; ++j) {
      counts_[f]->read({j, j + 1}, values.data());
      pack_row(static_cast<std::uint32_t>(touched_[f][j] - begin), values.data(), P, words[i]);
    }
  });
  // To each owner: how many words there are of each matrix, and these.
  std::vector<std::uint64_t> to_each(ranks), from_each(ranks);
  std::vector<std::uint64_t> counts(ranks * matrices), counts_of_others(ranks * matrices);
  for (std::size_t i = 0; i < words.size(); ++i) {
    counts[i] = words[i].size();
    to_each[i / matrices] += 4 * words[i].size();
  }
  const std::vector<std::uint64_t> same(ranks, 8 * matrices);
  comm_.exchange(counts.data(), same.data(), counts_of_others.data(), same.data());
  for (std::size_t i = 0; i < words.size(); ++i) from_each[i / matrices] += 4 * counts_of_others[i];
  const std::vector<std::uint64_t> send_at = offsets_of(to_each), receive_at = offsets_of(from_each);
  send_.resize(std::max<std::size_t>(send_.size(), send_at.back()));
  receive_.resize(std::max<std::size_t>(receive_.size(), receive_at.back()));
  pool.for_blocks(ranks, [&](std::size_t rank) {
    std::uint64_t offset = send_at[rank];
    for (std::size_t f = 0; f < matrices; ++f) {
      const auto& list = words[rank * matrices + f];
      if (!list.empty()) std::memcpy(send_.data() + offset, list.data(), 4 * list.size());
      offset += 4 * list.size();
    }
  });
  comm_.exchange(send_.data(), to_each.data(), receive_.data(), from_each.data());
  for (std::size_t f = 0; f < matrices; ++f) of_ranks(*of_all[f]).own.make_room(most[f]);
  pool.for_blocks(ranks, [&](std::size_t rank) {
    std::uint64_t offset = receive_at[rank];
    for (std::size_t f = 0; f < matrices; ++f) {
      const std::uint64_t count = counts_of_others[rank * matrices + f];
      const auto* const first = reinterpret_cast<const std::uint32_t*>(receive_.data() + offset);
      of_ranks(*of_all[f]).own.visit([&](auto& S) { add_rows(first, first + count, S); });
      offset += 4 * count;
    }
  });
}

}  // namespace ztp
