// What libztp_cuda.so offers: operations on the memory of one GPU, as plain functions of plain data, so that neither
// the program nor the library needs a symbol of the other. Every pointer is to the memory of the device, unless its
// name says `host`. Calls are ordered as they are made; those that write to the host wait for what they write. What
// each operation computes is said in kernel/kernel.hpp.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/random.hpp"

namespace ztp::cuda {

inline constexpr int api_version = 4;    // of this file: a library of another version is refused
inline constexpr int most_modes = 64;    // of a tensor: max_modes of ztp/labels.hpp
inline constexpr int row_alignment = 8;  // floats or counts; rows begin at multiples of it
inline constexpr std::uint32_t none = 0xffffffffu;
inline constexpr std::uint32_t most_components_listed = 2048;  // their products fit in memory that a block shares

inline std::uint32_t stride_of(std::size_t columns) {
  return static_cast<std::uint32_t>((columns + row_alignment - 1) / row_alignment * row_alignment);
}

// Weights are read sixteen at a time.
ZTP_DEVICE inline std::size_t padded_components(std::size_t R) {
  return (R + 15) / 16 * 16;
}

struct FactorArray {
  float* values;
  std::uint64_t rows, first_row;
  std::uint32_t columns, stride;
};

struct CountArray {
  void* values;  // of 64 bits if wide, else of 32
  std::uint64_t rows;
  std::uint32_t columns, stride;
  bool wide;
};

// A mode of a cell: where its factors are, and where its counts are added.
struct ModeArrays {
  const float* u;
  void* counts;                 // null where nothing is added
  const std::uint32_t* column;  // of each component; null: column r
  const float* to_scale;        // what each column of u is still to be multiplied by; null: nothing
  std::uint32_t stride;         // of both
  bool wide;
};

// z = scale sum_r weight[r] prod_k u_k[i_k, c(r, k)]
struct RateArrays {
  ModeArrays mode[most_modes];
  const float* weight;       // R
  const double* log_weight;  // R
  double scale, log_volume;
  std::uint32_t K, R;
};

struct CellArrays {
  const std::uint32_t* coords;   // count x K
  const std::int64_t* observed;  // null: not observed
  // Of each cell among all, which its random stream is keyed by; null: they follow each other from `first` on.
  const std::uint64_t* numbers;
  std::uint64_t count, first;
  bool missing;
};

// A part of an entry's count that is not a single unit; `order`: of the parts of one entry.
struct EntryPart {
  std::uint32_t entry, component, order;
  std::int64_t count;
};

// What comes back of a draw of counts, with R totals.
struct DrawnHeader {
  // The log-likelihood: high 2^32 + low units of base/exact_sum.hpp, and what is no number.
  std::int64_t high;
  std::uint64_t low;
  double rest;
  std::uint64_t several, in_logs, large, parts;  // how many entries or parts there were
  std::uint64_t bad_entry;                       // the first whose rate is zero or not a number; all bits set: none
};

struct DrawTask {
  RateArrays rates;
  CellArrays cells;
  StreamKey key;
  std::uint32_t t;
  std::int64_t unit;
  bool expected, anywhere, splits_large;
  float* weight;       // padded_components(R): room for weights that make up for to_scale
  double* log_weight;  // R: likewise
  // 2 count: entries that are not sure to have one unit from the front, those drawn in logs from the back of the first
  // half; in the second, the rates of the former.
  std::uint32_t* work;
  std::uint32_t* large;  // places in `work` of entries with so many units that they are split by binomials
  std::uint64_t most_large;
  std::uint32_t* component;  // count: the unit's, or `none`; null: not wanted
  EntryPart* parts;          // most_parts; null: not wanted
  std::uint64_t most_parts;
  std::int64_t* totals;  // R, of this call
  DrawnHeader* header;
};

struct ColumnTask {
  CountArray S;
  double a, scale;
  const std::uint32_t* rows;  // those that are drawn; null: all
  std::uint64_t count;        // of rows
};

// Columns of one matrix, drawn with those of others: u[., q] ~ Gamma(a + scale S[., q]), what they add up to, and what
// they are to be multiplied by to add up to u.rows: zero for columns that add up to less than `smallest_sum`.
struct ColumnJob {
  ColumnTask task;
  StreamKey key;
  std::uint32_t t;
  FactorArray u;
  double *blocks, *sums;  // column_sums_room(rows) x columns: room for sums of blocks; columns
  float* factor;          // columns
  double smallest_sum;
};

// A mode of listed components: null, where its entity is what the components were listed by.
struct ListedMode {
  const float* u;
  const std::uint32_t* column;  // of each component, in the order of the list; null: column r
  std::uint32_t stride;
};

// Components in an order of their own, by the entity of a one-hot mode that they belong to (their group), and then by
// their column in an open mode: those with the same column are a segment. Products are computed in double precision:
// weights are relative, and make no more than doubles hold.                                                (M2), (M16)
struct ListedRates {
  ListedMode mode[most_modes];   // K that are given
  const double* weight;          // of each component
  const std::uint32_t* segment;  // where each segment begins, and after the last one its end
  const std::uint32_t* column;   // of each segment, in the open mode
  const std::uint32_t* group;    // the first segment of each group, and after the last one its end
  std::uint32_t group_mode;      // the given mode whose entity says which group; `none`: there is one
  std::uint32_t K;
  double scale;
};

// Scores of queries x entities; sizes are padded to multiples of candidates_per_tile, padding is zero.
struct CandidateArrays {
  const std::uint32_t* others;  // queries x K: what is given
  std::uint64_t queries, padded_queries;
  std::uint64_t entities, padded_entities;
  std::uint32_t columns, padded_columns;  // of the open mode: to a multiple of columns_per_step
  float* weights;                         // padded_queries x padded_columns: room
  float* weights_by_column;               // padded_columns x padded_queries: room
  float* factors_by_column;               // padded_columns x padded_entities: room
  float* scale;                           // padded_queries: room
  float* sums;                            // padded_queries x padded_entities
  float* logits;                          // likewise; null: not wanted
};
inline constexpr std::uint64_t candidates_per_tile = 128;
inline constexpr std::uint32_t columns_per_step = 16;

// An entity of a query: a test one, or one that is no rival. What comes back of a test one: OnePlace of
// evaluate/ranking.hpp.
struct QueryEntity {
  std::uint32_t query, entity;
};
struct QueryPlace {
  float score;
  std::uint32_t above, equal;
};

struct RowsMask {
  const std::uint8_t* mask;  // of all rows; null: all are wanted
  std::uint8_t wanted;
};

struct Api {
  int version;
  // The words for the last call that failed, in this thread. All other functions return zero, or say that they failed.
  const char* (*error)();
  int (*devices)(int* host_count);
  // The one device that this process uses; `use` has to be called by every other thread that calls anything.
  int (*open)(int device, char* host_name, std::size_t name_bytes);
  int (*use)(int device);
  int (*memory)(std::size_t* host_free, std::size_t* host_total);

  int (*allocate)(std::size_t bytes, void** host_address);
  void (*release)(void* memory);
  int (*clear)(void* memory, std::size_t bytes);
  int (*to_device)(void* memory, const void* host, std::size_t bytes);
  int (*to_device_later)(void* memory, const void* pinned_host, std::size_t bytes);  // the host may go on
  // Beside the work of the device, which goes on; waits for this copy alone. Nothing else may use the memory.
  int (*to_device_aside)(void* memory, const void* host, std::size_t bytes);
  int (*pin)(void* host, std::size_t bytes);  // copies from there become faster
  void (*unpin)(void* host);
  int (*to_host)(void* host, const void* memory, std::size_t bytes);
  int (*rows_to_device)(void* memory, std::size_t stride, const void* host, std::size_t host_stride,
                        std::size_t row_bytes, std::size_t rows);
  int (*rows_to_host)(void* host, std::size_t host_stride, const void* memory, std::size_t stride,
                      std::size_t row_bytes, std::size_t rows, bool is_pinned);
  int (*copy)(void* to, const void* from, std::size_t bytes);  // both of the device
  // A packed copy of all rows, that threads may read while the device goes on. taken: null, or as an earlier call left
  // it.
  int (*take_snapshot)(FactorArray u, float* packed, void** taken);
  int (*read_snapshot)(void* taken, const float* packed, std::size_t count, float* host);
  void (*forget_snapshot)(void* taken);
  int (*wait)();

  // Entries that floats do not hold are left in a list, and so are, unless splits_large says otherwise, entries with
  // many units: if there are any (header), draw_counts_in_logs and split_large_counts must follow.
  int (*draw_counts)(const DrawTask&);
  int (*draw_counts_in_logs)(const DrawTask&);
  int (*split_large_counts)(const DrawTask&);
  int (*allocate_at_random)(const DrawTask&);

  int (*draw_gammas)(const ColumnTask&, StreamKey, std::uint32_t t, FactorArray u);
  // Of all rows. blocks: room for sums of blocks, column_sums_room(rows) x columns. sums: columns.
  int (*sum_columns)(const ColumnTask&, FactorArray u, double* blocks, double* sums);
  // The same of groups of rows, a multiple of rows_per_sum and at most rows_per_sum * sums_of_group each. sums: groups
  // x columns.
  int (*sum_groups)(const ColumnTask&, FactorArray u, std::uint64_t rows_of_group, double* blocks, double* sums);
  // Of listed rows: group g has those from begin[g] to begin[g + 1] of the list.
  int (*sum_listed_groups)(const ColumnTask&, FactorArray u, const std::uint32_t* begin, std::uint64_t groups,
                           double* sums);
  // groups: count x columns, and behind them room for room_to_add(count) rows in all.
  int (*add_groups)(double* groups, std::uint64_t count, std::uint32_t columns, double* sums);
  int (*draw_columns)(const ColumnJob* host_jobs, std::size_t count);  // of all rows: of no list of them
  int (*scale_columns)(const ColumnTask&, const float* factor, FactorArray u);
  int (*mean_columns)(const ColumnTask&, const float* factor, FactorArray u);
  // room: count + 1 doubles for each of the columns. sums: one for each of them.
  int (*draw_in_logs)(const ColumnTask&, const std::uint32_t* which, std::uint32_t columns, const double* log_rest,
                      StreamKey, std::uint32_t t, FactorArray u, double* room, double* sums);
  // The same step by step, for a column of which other processes have rows: logarithms of the draws, what they become
  // together n times one, and where these go.
  int (*log_gammas)(const ColumnTask&, std::uint32_t q, StreamKey, std::uint32_t t, FactorArray u, double* logs);
  int (*normalise)(double* logs, std::uint64_t count, double n, double* sum);
  int (*write_column)(const ColumnTask&, std::uint32_t q, const double* values, FactorArray u);
  int (*sum_counts)(const ColumnTask&, std::int64_t* sums);

  // of_blocks: sums over blocks of rows_per_place rows, blocks x columns. power: of u.
  int (*block_sums)(FactorArray u, RowsMask, int power, double* of_blocks, double* sums);
  // in_block: room for blocks x columns counts
  int (*place)(FactorArray u, RowsMask, const std::int64_t* totals, const double* of_blocks, StreamKey, std::uint32_t t,
               std::int64_t unit, std::int64_t* in_block, CountArray S);
  // Poisson(mean[q]) counts placed in proportion to u[., q]^2, each with two ends. drawn: how many.
  int (*impute_diagonal)(FactorArray u, const double* mean, StreamKey, std::uint32_t t, std::int64_t unit, CountArray S,
                         std::int64_t* drawn);
  int (*spread)(FactorArray u, RowsMask, int power, const double* factor, CountArray S);
  int (*shift)(int bits, CountArray S);
  int (*move)(CountArray towards, double part, CountArray S);
  int (*widen)(CountArray narrow, CountArray wide);
  // How often values below `small` occur; larger ones one by one, at most `most` of them. found: how many there are.
  int (*tally)(CountArray S, std::uint64_t small, unsigned long long* count, std::int64_t* large, std::uint64_t most,
               unsigned long long* found);

  int (*score)(const RateArrays&, const std::uint32_t* coords, std::uint64_t count, double* z);
  int (*score_parts)(const RateArrays&, const std::uint32_t* coords, std::uint64_t count, double* parts);
  // z of cells by the components of their group alone.
  int (*score_listed)(const ListedRates&, const std::uint32_t* coords, std::uint64_t count, double* z);

  // sums += 1 - exp(-z) of all queries and entities at one draw. u: of the open mode.
  int (*add_candidates)(const ListedRates&, FactorArray u, const CandidateArrays&);
  // logits += those of sums / draws, which become zero.
  int (*end_chain)(const CandidateArrays&, double draws);
  // Scores of entities that are no rivals are overwritten: tests and others.
  int (*place_tests)(const CandidateArrays&, const QueryEntity* tests, std::uint64_t count, const QueryEntity* dropped,
                     std::uint64_t dropped_count, QueryPlace* places);
};

// Rows whose factors are added up one after another; part of what a seed means on a GPU.
inline constexpr std::uint64_t rows_per_sum = 32;
inline std::uint64_t column_blocks(std::uint64_t rows) {
  return (rows + rows_per_sum - 1) / rows_per_sum;
}
// They are added up in groups of so many, and the sums of groups again, until one is left. In a group, so many
// neighbours first, one after another, and then pairs of neighbouring sums, until one is left.
inline constexpr std::uint64_t sums_of_group = 128, sums_of_thread = 4;
// How many rows of sums there must be room for: those that are there, and behind them those of groups.
inline std::uint64_t room_to_add(std::uint64_t sums) {
  return sums + sums / (sums_of_group / 2) + 16;
}
inline std::uint64_t column_sums_room(std::uint64_t rows) {
  return room_to_add(column_blocks(rows));
}

}  // namespace ztp::cuda

extern "C" {
// The one symbol of the library.
const ztp::cuda::Api* ztp_cuda_api();
}
