#include "kernel/ranks/rank_ones.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

namespace ztp {
namespace {

constexpr std::size_t worth_an_index = 4;  // cells of a row

std::vector<std::uint64_t> offsets_of(const std::vector<std::uint64_t>& sizes) {
  std::vector<std::uint64_t> offsets = {0};
  for (const std::uint64_t size : sizes) offsets.push_back(offsets.back() + size);
  return offsets;
}

// A set of rows, and the place of each among them.
class RowSet {
 public:
  explicit RowSet(std::size_t rows) : words_((rows + 63) / 64, 0), before_(words_.size(), 0) {}
  void add(std::uint32_t row) { words_[row / 64] |= std::uint64_t{1} << row % 64; }
  std::vector<std::uint32_t> close() {
    std::size_t count = 0;
    for (const std::uint64_t word : words_) count += static_cast<std::size_t>(std::popcount(word));
    std::vector<std::uint32_t> rows;
    rows.reserve(count);
    for (std::size_t w = 0; w < words_.size(); ++w) {
      before_[w] = static_cast<std::uint32_t>(rows.size());
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1)
        rows.push_back(static_cast<std::uint32_t>(64 * w) + static_cast<std::uint32_t>(std::countr_zero(word)));
    }
    return rows;
  }
  std::uint32_t place(std::uint32_t row) const {
    const std::uint64_t below = words_[row / 64] & ((std::uint64_t{1} << row % 64) - 1);
    return before_[row / 64] + static_cast<std::uint32_t>(std::popcount(below));
  }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> before_;
};

// Counts of a row as they travel: which of the requested rows it is, how many columns have counts, and for each of them
// its number and its count. A count of one is the number of the column alone.
constexpr std::uint32_t more_than_one = 0x80000000u;

// Rows are padded with zeros, and most values are zero: they are looked at many at a time.
template <class T>
std::size_t words_of_row(const T* values, std::size_t stride) {
  std::size_t any = 0, single = 0;
  for (std::size_t q = 0; q < stride; q += lanes)
    for (std::size_t i = q; i < q + lanes; ++i) {
      any += values[i] != 0 ? 1 : 0;
      single += values[i] == 1 ? 1 : 0;
    }
  return any == 0 ? 0 : 2 + any + 2 * (any - single);
}

// Returns where the next row goes.
template <class T>
std::uint32_t* pack_row(std::uint32_t row, const T* values, std::size_t stride, std::uint32_t* words) {
  std::uint32_t* const head = words;
  std::uint32_t found = 0;
  words += 2;
  for (std::size_t q = 0; q < stride; q += lanes) {
    T some = 0;
    for (std::size_t i = q; i < q + lanes; ++i) some |= values[i];
    for (std::size_t i = q; some != 0 && i < q + lanes; ++i) {
      if (values[i] == 0) continue;
      ++found;
      const auto bits = static_cast<std::uint64_t>(values[i]);
      *words++ = static_cast<std::uint32_t>(i) | (bits == 1 ? 0 : more_than_one);
      if (bits == 1) continue;
      *words++ = static_cast<std::uint32_t>(bits);
      *words++ = static_cast<std::uint32_t>(bits >> 32);
    }
  }
  if (found == 0) return head;
  head[0] = row;
  head[1] = found;
  return words;
}

// alone: no other thread adds to these rows.
template <bool alone, class T>
void add_rows(const std::uint32_t* word, const std::uint32_t* end, const std::vector<std::uint32_t>& asked_for,
              Matrix<T>& S) {
  while (word < end) {
    T* const row = S.row(asked_for[word[0]]);
    std::uint32_t left = word[1];
    for (word += 2; left > 0; --left) {
      const std::uint32_t q = *word++;
      std::int64_t count = 1;
      if ((q & more_than_one) != 0) {
        count = static_cast<std::int64_t>(std::uint64_t{word[0]} | std::uint64_t{word[1]} << 32);
        word += 2;
      }
      if constexpr (alone)
        row[q & ~more_than_one] += static_cast<T>(count);
      else
        std::atomic_ref(row[q & ~more_than_one]).fetch_add(static_cast<T>(count), std::memory_order_relaxed);
    }
  }
}

}  // namespace

std::vector<std::size_t> parts_of_modes(std::size_t ones, const FactorLayout& layout, std::size_t ranks, double room) {
  const std::size_t K = layout.modes(), mine = ones / ranks;
  const std::vector<std::size_t> slabs = slabs_of_modes(layout, ranks);
  std::vector<std::size_t> parts(K, 1);
  for (std::size_t chunks = 1;; chunks *= 2) {
    // The rows of mode k that a chunk may touch: at most one for each of its cells.
    const auto rows = [&](std::size_t k) { return layout.size_of_mode(k).rows / slabs[k] / parts[k]; };
    const auto copies = [&](std::size_t k) {
      const std::size_t columns = layout.size_of_mode(k).columns;
      return 8.0 * static_cast<double>((padded(columns) + columns) * std::min(mine / chunks, rows(k)));
    };
    double bytes = 0;
    std::size_t most = 0;
    for (std::size_t k = 0; k < K; ++k) {
      bytes += copies(k);
      if (std::pair(copies(k), rows(k)) > std::pair(copies(most), rows(most))) most = k;
    }
    if (bytes <= room || mine / chunks <= 1) return parts;
    parts[most] *= 2;
  }
}

namespace {

// Ends of so many parts of the rows of mode k that have about as many cells each.
std::vector<std::uint32_t> ends_of_parts(const CellsHere& cells, std::size_t k, std::size_t K, std::size_t parts) {
  const std::size_t count = cells.place.size(), step = std::max<std::size_t>(1, count >> 20);
  std::vector<std::uint32_t> rows, ends;
  for (std::size_t e = 0; e < count; e += step) rows.push_back(cells.coords[e * K + k]);
  std::sort(rows.begin(), rows.end());
  for (std::size_t part = 1; part < parts && !rows.empty(); ++part) ends.push_back(rows[rows.size() * part / parts]);
  return ends;
}

}  // namespace

// Each chunk has the cells of a block of the tensor, in the order that they had.
std::vector<Range> RankOnes::cut_into_chunks(const std::vector<std::size_t>& parts) {
  const std::size_t K = parts.size(), count = count_here();
  std::size_t chunks = 1;
  std::vector<std::vector<std::uint32_t>> ends;
  for (std::size_t k = 0; k < K; ++k) {
    chunks *= parts[k];
    ends.push_back(ends_of_parts(cells_, k, K, parts[k]));
  }
  if (chunks == 1) return {{0, count}};
  std::vector<std::uint32_t> chunk(count, 0);
  std::vector<std::size_t> begin(chunks + 1, 0);
  for (std::size_t e = 0; e < count; ++e) {
    for (std::size_t k = 0; k < K; ++k) {
      const auto part = std::upper_bound(ends[k].begin(), ends[k].end(), cells_.coords[e * K + k]) - ends[k].begin();
      chunk[e] = chunk[e] * static_cast<std::uint32_t>(parts[k]) + static_cast<std::uint32_t>(part);
    }
    ++begin[chunk[e] + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  CellsHere sorted;
  sorted.place.resize(count);
  sorted.coords.resize(count * K);
  sorted.observed.resize(cells_.observed.size());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t e = 0; e < count; ++e) {
    const std::size_t to = next[chunk[e]]++;
    sorted.place[to] = cells_.place[e];
    std::copy_n(cells_.coords.data() + e * K, K, sorted.coords.data() + to * K);
    if (!sorted.observed.empty()) sorted.observed[to] = cells_.observed[e];
  }
  cells_ = std::move(sorted);
  std::vector<Range> ranges;
  for (std::size_t c = 0; c < chunks; ++c) ranges.push_back({begin[c], begin[c + 1]});
  return ranges;
}

RankOnes::RankOnes(const HostCells& of_all, CellsHere here, const FactorLayout& layout, double room,
                   const RankPlace& rank, PartKernel& kernel)
    : Ones(of_all),
      comm_(rank.comm),
      kernel_(kernel),
      elsewhere_(rank.elsewhere != nullptr),
      cells_(std::move(here)),
      rows_here_(layout.matrices(), 0) {
  // From what all ranks know alike: nothing is agreed on here, for cells of a file are read beside other work.
  for (const Range& cells : cut_into_chunks(parts_of_modes(of_all.count, layout, comm_.size(), room)))
    chunks_.emplace_back().cells = cells;
  if (of_all.numbers != nullptr || of_all.first != 0)
    for (const std::uint64_t place : cells_.place) numbers_.push_back(of_all.number(place));
  // Rows first: chunks have them all in arrays of one size.
  for (Chunk& chunk : chunks_) make_chunk(chunk, layout);
  for (Chunk& chunk : chunks_) {
    const std::size_t first = chunk.cells.begin, K = layout.modes();
    std::size_t rows = 0;
    for (const Plan& plan : chunk.plans) rows += plan.touched.size();
    const HostCells cells{.coords = cells_.coords.data() + first * K,
                          .observed = cells_.observed.empty() ? nullptr : cells_.observed.data() + first,
                          .count = chunk.cells.size(),
                          .missing = of_all.missing,
                          .indexed = of_all.indexed && chunk.cells.size() * K >= worth_an_index * rows,
                          .numbers = (numbers_.empty() ? cells_.place : numbers_).data() + first};
    chunk.ones = kernel.upload(cells, layout_here(layout));
    kernel.reserve(chunk.cells.size());
  }
}

void RankOnes::make_chunk(Chunk& chunk, const FactorLayout& layout) {
  const std::size_t K = layout.modes();
  chunk.plans.resize(layout.matrices());
  std::vector<RowSet> sets;
  for (std::size_t f = 0; f < layout.matrices(); ++f) {
    sets.emplace_back(layout.size(f).rows);
    // It would not be one-hot without some of its rows.
    for (std::uint32_t j = 0; layout.is_one_hot(f) && j < layout.size(f).rows; ++j) sets[f].add(j);
  }
  for (std::size_t e = chunk.cells.begin; e < chunk.cells.end; ++e)
    for (std::size_t k = 0; k < K; ++k) sets[layout.matrix(k)].add(cells_.coords[e * K + k]);
  for (std::size_t f = 0; f < layout.matrices(); ++f) {
    chunk.plans[f].touched = sets[f].close();
    rows_here_[f] = std::max(rows_here_[f], chunk.plans[f].touched.size());
  }
  for (std::size_t e = chunk.cells.begin; e < chunk.cells.end; ++e)
    for (std::size_t k = 0; k < K; ++k) {
      std::uint32_t& row = cells_.coords[e * K + k];
      row = sets[layout.matrix(k)].place(row);
    }
}

const std::uint32_t* RankOnes::coords_of(std::size_t c) const {
  const std::size_t all = cells_.coords.size(), K = count_here() == 0 ? 0 : all / count_here();
  return cells_.coords.data() + chunks_[c].cells.begin * K;
}

std::size_t RankOnes::bytes() const {
  std::size_t sum = 4 * cells_.coords.size() + 8 * (cells_.observed.size() + cells_.place.size() + numbers_.size());
  for (const Chunk& chunk : chunks_) {
    sum += chunk.ones->bytes();
    for (const Plan& plan : chunk.plans) {
      sum += 4 * plan.touched.size();
      for (const auto& rows : plan.give) sum += 4 * rows.size();
    }
  }
  for (const auto* copies : {&factors_, &factors_there_})
    for (const auto& of_matrix : *copies) sum += of_matrix->bytes();
  for (const auto* copies : {&counts_, &counts_there_})
    for (const auto& of_matrix : *copies) sum += of_matrix->bytes();
  for (const Message* message : {&fetched_, &given_}) sum += message->send.size() + message->receive.size();
  return sum;
}

void RankOnes::plan(Plan& plan, const RowCut& cut) const {
  if (!plan.from.empty()) return;
  const std::size_t ranks = comm_.size();
  plan.from.assign(ranks, 0);
  plan.to.assign(ranks, 0);
  std::vector<std::vector<std::uint32_t>> asked(ranks);  // of each owner, by its own numbers
  std::size_t next = 0;
  for (const RowCut::Share& share : cut.shares) {
    plan.from[share.owner] = next;
    for (; next < plan.touched.size() && plan.touched[next] < share.end; ++next)
      asked[share.owner].push_back(static_cast<std::uint32_t>(plan.touched[next] - share.begin));
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
  plan.touched = {};
  for (std::size_t rank = 0; rank < ranks; ++rank)
    plan.give.emplace_back(received.begin() + static_cast<std::ptrdiff_t>(offsets[rank] / 4),
                           received.begin() + static_cast<std::ptrdiff_t>(offsets[rank + 1] / 4));
}

template <class RowsOf, class Body>
void RankOnes::for_pieces(const std::vector<std::uint64_t>& begin, const RowsOf& rows_of, Pool& pool,
                          const Body& body) const {
  std::vector<Piece> pieces;
  for (std::size_t rank = 0; rank < comm_.size(); ++rank) {
    std::uint64_t offset = begin[rank];
    for (std::size_t f = 0; f < factors_.size(); ++f) {
      const Blocks blocks{rows_of(f, rank), 1024};
      const std::uint64_t row_bytes = 4 * factors_[f]->columns();
      for (std::size_t b = 0; b < blocks.count(); ++b)
        pieces.push_back({f, rank, {blocks.begin(b), blocks.end(b)}, offset + blocks.begin(b) * row_bytes});
      if (rank != comm_.rank()) offset += blocks.total * row_bytes;
    }
  }
  pool.for_blocks(pieces.size(), [&](std::size_t i) { body(pieces[i]); });
}

void RankOnes::begin_fetch(std::size_t c, const std::vector<const Factors*>& factors, Pool& pool) const {
  const std::size_t ranks = comm_.size();
  std::vector<Plan>& plans = chunks_[c].plans;
  std::vector<std::uint64_t> to_each(ranks, 0), from_each(ranks, 0);
  for (std::size_t f = 0; f < factors.size(); ++f) {
    plan(plans[f], of_ranks(*factors[f]).cut());
    const std::uint64_t row_bytes = 4 * factors[f]->columns();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (rank == comm_.rank()) continue;  // its own rows do not travel
      to_each[rank] += plans[f].give[rank].size() * row_bytes;
      from_each[rank] += (plans[f].to[rank] - plans[f].from[rank]) * row_bytes;
    }
    if (factors_.size() != f) continue;
    const RowPlace place{.all = factors[f]->all_rows()};
    factors_.push_back(HostArrays().factors(rows_here_[f], factors[f]->columns(), place));
    if (elsewhere_) factors_there_.push_back(kernel_.factors(rows_here_[f], factors[f]->columns(), place));
  }
  const std::vector<std::uint64_t> send_at = offsets_of(to_each);
  fetched_at_ = offsets_of(from_each);
  fetched_.make_room(send_at.back(), fetched_at_.back());
  const auto rows_of = [&](std::size_t f, std::size_t rank) {
    return rank == comm_.rank() ? 0 : plans[f].give[rank].size();
  };
  for_pieces(send_at, rows_of, pool, [&](const Piece& piece) {
    const Matrix<float>& u = of_ranks(*factors[piece.matrix]).own.values;
    std::byte* to = fetched_.send.data() + piece.offset;
    for (std::size_t i = piece.rows.begin; i < piece.rows.end; ++i, to += 4 * u.columns())
      std::memcpy(to, u.row(plans[piece.matrix].give[piece.rank][i]), 4 * u.columns());
  });
  comm_.begin_exchange(fetched_.send.data(), to_each.data(), fetched_.receive.data(), from_each.data());
}

std::vector<Factors*> RankOnes::fetched(std::size_t c, const std::vector<const Factors*>& factors, Pool& pool) const {
  const std::vector<Plan>& plans = chunks_[c].plans;
  const auto rows_of = [&](std::size_t f, std::size_t rank) { return plans[f].to[rank] - plans[f].from[rank]; };
  for_pieces(fetched_at_, rows_of, pool, [&](const Piece& piece) {
    Matrix<float>& u = on_this_host(*factors_[piece.matrix]).values;
    const std::size_t first = plans[piece.matrix].from[piece.rank];
    if (piece.rank == comm_.rank()) {
      const Matrix<float>& own = of_ranks(*factors[piece.matrix]).own.values;
      const std::vector<std::uint32_t>& rows = plans[piece.matrix].give[piece.rank];
      for (std::size_t i = piece.rows.begin; i < piece.rows.end; ++i)
        std::memcpy(u.row(first + i), own.row(rows[i]), 4 * u.columns());
      return;
    }
    const std::byte* from = fetched_.receive.data() + piece.offset;
    for (std::size_t i = piece.rows.begin; i < piece.rows.end; ++i, from += 4 * u.columns())
      std::memcpy(u.row(first + i), from, 4 * u.columns());
  });
  for (std::size_t f = 0; f < factors_there_.size(); ++f)
    kernel_.send_factors(pool, on_this_host(*factors_[f]), *factors_there_[f]);
  std::vector<Factors*> result;
  for (const auto& of_matrix : elsewhere_ ? factors_there_ : factors_) result.push_back(of_matrix.get());
  return result;
}

std::vector<Counts*> RankOnes::sums_here(const std::vector<Counts*>& of_all) const {
  std::vector<Counts*> result;
  for (std::size_t f = 0; f < of_all.size(); ++f) {
    if (counts_.size() == f) {
      const bool wide = of_ranks(*of_all[f]).own.wide();
      counts_.push_back(HostArrays().counts(rows_here_[f], of_all[f]->columns(), wide));
      if (elsewhere_) counts_there_.push_back(kernel_.counts(rows_here_[f], of_all[f]->columns(), wide));
    }
    result.push_back((elsewhere_ ? counts_there_ : counts_)[f].get());
  }
  return result;
}

// What a chunk has in rows of this rank itself.
void RankOnes::add_own_rows(const Plan& plan, const HostCounts& here, HostCounts& own, Pool& pool) const {
  const std::vector<std::uint32_t>& rows = plan.give[comm_.rank()];
  const std::uint64_t first = plan.from[comm_.rank()];
  const Blocks blocks{rows.size(), 256};
  here.visit([&](const auto& from) {
    own.visit([&]<class T>(Matrix<T>& to) {
      pool.for_blocks(blocks.count(), [&](std::size_t b) {
        for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i) {
          const auto* const add = from.row(first + i);
          T* const row = to.row(rows[i]);
          for (std::size_t q = 0; q < to.columns(); ++q) row[q] += static_cast<T>(add[q]);
        }
      });
    });
  });
}

void RankOnes::give_back(std::size_t c, const std::vector<Counts*>& of_all, const std::vector<std::int64_t>& most,
                         Pool& pool) const {
  const std::size_t ranks = comm_.size(), matrices = of_all.size();
  std::vector<Plan>& plans = chunks_[c].plans;
  for (std::size_t f = 0; f < matrices; ++f) plan(plans[f], of_ranks(*of_all[f]).cut());
  for (std::size_t f = 0; f < counts_there_.size(); ++f) {
    HostCounts& here = on_this_host(*counts_[f]);
    here.forget();
    here.make_room(most[f]);
    kernel_.bring_counts(pool, *counts_there_[f], here);
  }
  // Words are counted first, and then written where they are sent from.
  std::vector<Piece> pieces;
  for (std::size_t owner = 0; owner < ranks; ++owner)
    for (std::size_t f = 0; f < matrices && owner != comm_.rank(); ++f) {
      const Blocks blocks{plans[f].to[owner] - plans[f].from[owner], 1024};
      for (std::size_t b = 0; b < blocks.count(); ++b)
        pieces.push_back({f, owner, {blocks.begin(b), blocks.end(b)}, 0});
    }
  const auto for_rows = [&](const Piece& piece, const auto& body) {
    dynamic_cast<const HostCounts&>(*counts_[piece.matrix]).visit([&](const auto& S) {
      const std::uint64_t first = plans[piece.matrix].from[piece.rank];
      for (std::size_t j = piece.rows.begin; j < piece.rows.end; ++j) body(j, S.row(first + j), S.stride());
    });
  };
  pool.for_blocks(pieces.size(), [&](std::size_t i) {
    for_rows(pieces[i],
             [&](std::size_t, const auto* row, std::size_t stride) { pieces[i].offset += words_of_row(row, stride); });
  });
  // To each owner: how many words there are of each matrix, and these.
  std::vector<std::uint64_t> to_each(ranks, 0), from_each(ranks, 0);
  std::vector<std::uint64_t> counts(ranks * matrices, 0), counts_of_others(ranks * matrices);
  std::uint64_t all = 0;
  for (Piece& piece : pieces) {
    counts[piece.rank * matrices + piece.matrix] += piece.offset;
    to_each[piece.rank] += 4 * piece.offset;
    all += std::exchange(piece.offset, all);
  }
  const std::vector<std::uint64_t> same(ranks, 8 * matrices);
  comm_.exchange(counts.data(), same.data(), counts_of_others.data(), same.data());
  for (std::size_t i = 0; i < counts.size(); ++i) from_each[i / matrices] += 4 * counts_of_others[i];
  const std::vector<std::uint64_t> receive_at = offsets_of(from_each);
  given_.make_room(4 * all, receive_at.back());
  pool.for_blocks(pieces.size(), [&](std::size_t i) {
    auto* to = reinterpret_cast<std::uint32_t*>(given_.send.data()) + pieces[i].offset;
    for_rows(pieces[i], [&](std::size_t j, const auto* row, std::size_t stride) {
      to = pack_row(static_cast<std::uint32_t>(j), row, stride, to);
    });
  });
  comm_.begin_exchange(given_.send.data(), to_each.data(), given_.receive.data(), from_each.data());
  for (std::size_t f = 0; f < matrices; ++f) {
    of_ranks(*of_all[f]).own.make_room(most[f]);
    add_own_rows(plans[f], dynamic_cast<const HostCounts&>(*counts_[f]), of_ranks(*of_all[f]).own, pool);
  }
  comm_.end_exchange();
  pool.for_blocks(ranks, [&](std::size_t rank) {
    std::uint64_t offset = receive_at[rank];
    for (std::size_t f = 0; f < matrices; ++f) {
      const std::uint64_t count = counts_of_others[rank * matrices + f];
      const auto* const first = reinterpret_cast<const std::uint32_t*>(given_.receive.data() + offset);
      of_ranks(*of_all[f]).own.visit([&](auto& S) {
        if (pool.threads() == 1)
          add_rows<true>(first, first + count, plans[f].give[rank], S);
        else
          add_rows<false>(first, first + count, plans[f].give[rank], S);
      });
      offset += 4 * count;
    }
  });
}

}  // namespace ztp
