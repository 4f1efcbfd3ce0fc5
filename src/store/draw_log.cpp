#include "store/draw_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/hash.hpp"
#include "store/packed.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr std::size_t floats_at_a_time = 1 << 18;

// What follows the pieces of a record.
std::size_t words_at_end(const DrawPieces& pieces) {
  return pieces.count() + 1;
}
std::uint64_t place_of_piece(const DrawPiece& piece) {
  return sizeof(DrawHead) + piece.begin;
}
std::uint64_t place_of_sum(const DrawPieces& pieces, std::size_t piece) {
  return sizeof(DrawHead) + pieces.bytes() + sizeof(std::uint64_t) * piece;
}
std::uint64_t record_bytes(const DrawPieces& pieces) {
  return place_of_sum(pieces, words_at_end(pieces));
}

// Of a head and the checksums of the pieces.
std::uint64_t sum_of_sums(const DrawHead& head, const std::uint64_t* sums, std::size_t pieces) {
  Hash hash;
  hash.add(&head, sizeof head);
  hash.add(sums, pieces * sizeof *sums);
  return hash.sum();
}

std::vector<std::byte> stored(const DrawPiece& piece, const std::vector<float>& values) {
  std::vector<std::byte> bytes(piece.bytes);
  if (piece.packed())
    pack(values.data(), piece.floats, piece.of_chunk, bytes.data());
  else
    std::memcpy(bytes.data(), values.data(), piece.bytes);
  return bytes;
}

}  // namespace

std::uint64_t record_bytes(const DrawLayout& layout) {
  return record_bytes(DrawPieces(layout));
}

// A record that is being written, piece by piece in any order. What begins and ends it is written last, so that it is
// not taken for a whole one before.
class DrawLogWriter::Record {
 public:
  Record(DrawLogWriter& log, const DrawHead& head)
      : log_(log),
        number_(log.appended_++),
        begin_(log.next_),
        draw_(std::make_shared<StoredDraw>()),
        words_(words_at_end(log.pieces_)),
        missing_(words_.size() - 1) {
    draw_->head = head;
    draw_->pieces.resize(log.pieces_.count());
    log.next_ += record_bytes(log.pieces_);
    ++log.incomplete_;
  }
  void write(std::size_t p, const std::vector<float>& values) {
    const DrawPiece piece = log_.pieces_[p];
    std::vector<std::byte> bytes = stored(piece, values);
    words_[p] = hash_of(bytes.data(), bytes.size());
    log_.file_.write_at(begin_ + place_of_piece(piece), bytes.data(), bytes.size());
    if (log_.follower_) draw_->pieces[p] = std::move(bytes);
    if (--missing_ == 0) finish();
  }

 private:
  void finish() {
    const std::size_t pieces = words_.size() - 1;
    words_[pieces] = sum_of_sums(draw_->head, words_.data(), pieces);
    log_.file_.write_at(begin_ + place_of_sum(log_.pieces_, 0), words_.data(), words_.size() * sizeof words_[0]);
    log_.file_.write_at(begin_, &draw_->head, sizeof draw_->head);
    --log_.incomplete_;
    if (log_.follower_) log_.follower_(number_, std::move(draw_));
  }

  DrawLogWriter& log_;
  const std::size_t number_;
  const std::uint64_t begin_;
  std::shared_ptr<StoredDraw> draw_;
  std::vector<std::uint64_t> words_;  // checksums of the pieces, and that of these
  std::atomic<std::size_t> missing_;
};

// Cuts the numbers of a record into pieces, each a job. The jobs divide them.
class DrawLogWriter::Pieces {
 public:
  Pieces(DrawLogWriter& log, const DrawHead& head) : log_(log), record_(std::make_shared<Record>(log, head)) {}
  void put(float value) { put(&value, 1, 1); }
  void put(const float* values, std::size_t count, float by) {
    while (count > 0) {
      const std::size_t whole = log_.pieces_[number_].floats;
      const std::size_t here = std::min(count, whole - piece_.size());
      piece_.reserve(whole);
      if (divisors_.empty() || divisors_.back().by != by) divisors_.push_back({piece_.size(), by});
      piece_.insert(piece_.end(), values, values + here);
      values += here;
      count -= here;
      if (piece_.size() == whole) write();
    }
  }
  // All rows of a variable whose slabs are pieces: the jobs read them.
  void put_slabs(const DrawVariable& variable, const std::function<void(Range, float*)>& read, float by) {
    const Blocks slabs{variable.rows, variable.rows_of_a_slab()};
    for (std::size_t b = 0; b < slabs.count(); ++b) {
      const Range rows{slabs.begin(b), slabs.end(b)};
      const std::size_t floats = rows.size() * variable.columns;
      log_.writing_.run(floats * sizeof(float), [record = record_, number = number_++, read, rows, floats, by] {
        std::vector<float> values(floats);
        read(rows, values.data());
        for (float& value : values) value /= by;
        record->write(number, values);
      });
    }
  }

 private:
  struct Divisor {
    std::size_t begin;  // of the numbers, up to the next divisor
    float by;
  };
  static void divide(std::vector<float>& piece, const std::vector<Divisor>& divisors) {
    for (std::size_t d = 0; d < divisors.size(); ++d) {
      const std::size_t end = d + 1 < divisors.size() ? divisors[d + 1].begin : piece.size();
      for (std::size_t i = divisors[d].begin; i < end; ++i) piece[i] /= divisors[d].by;
    }
  }
  void write() {
    const auto values = std::make_shared<std::vector<float>>(std::exchange(piece_, {}));
    log_.writing_.run(values->size() * sizeof(float),
                      [record = record_, number = number_++, values, divisors = std::exchange(divisors_, {})] {
                        divide(*values, divisors);
                        record->write(number, *values);
                      });
  }

  DrawLogWriter& log_;
  const std::shared_ptr<Record> record_;  // outlives a record that could not be written whole
  std::size_t number_ = 0;                // of the piece
  std::vector<float> piece_;
  std::vector<Divisor> divisors_;
};

namespace {

template <class Sink>
void put_exp(Sink& sink, const std::vector<double>& logs) {
  for (const double value : logs) sink.put(static_cast<float>(std::exp(value)));
}

template <class Sink>
void put(Sink& sink, const DrawVariable& variable, const State& state, const SweepReport& report) {
  const std::size_t i = variable.index;
  switch (variable.kind) {
    case DrawVariable::Kind::weight:
      return put_exp(sink, (i == 0 ? state.tensor : state.networks[i - 1]).log_weight);
    case DrawVariable::Kind::p:
      return put_exp(sink, (i == 0 ? state.tensor : state.networks[i - 1]).log_p);
    case DrawVariable::Kind::column:
      for (const std::uint32_t q : state.layout.columns_of_mode(i)) sink.put(static_cast<float>(q) + 1.0f);
      return;
    case DrawVariable::Kind::learned:
      return sink.put(static_cast<float>(report.learned[i]));
    case DrawVariable::Kind::factor:
      const Factors& u = *state.factors[i];  // n u
      const float n = static_cast<float>(u.rows());
      if (variable.packed)
        if (const std::function<void(Range, float*)> read = u.snapshot()) return sink.put_slabs(variable, read, n);
      collect_blocks_of_rows(u,
                             [&](Range rows, const float* values) { sink.put(values, rows.size() * u.columns(), n); });
  }
}

}  // namespace

DrawLogWriter::DrawLogWriter(const std::string& path, DrawLayout layout, std::uint64_t length, unsigned threads)
    : layout_(std::move(layout)),
      pieces_(layout_),
      file_(path, length),
      next_(length),
      writing_(waiting_bytes(layout_), threads) {}

std::size_t DrawLogWriter::waiting_bytes(const DrawLayout& layout) {
  return std::clamp<std::size_t>(layout.bytes(), std::size_t{1} << 20, std::size_t{64} << 20);
}

void DrawLogWriter::append(const State& state, const SweepReport& report) {
  Pieces pieces(*this, draw_head(report));
  for (const DrawVariable& variable : layout_.variables) put(pieces, variable, state, report);
}

void DrawLogWriter::append(const DrawHead& head, const std::vector<float>& values) {
  Pieces(*this, head).put(values.data(), values.size(), 1);
}

void DrawLogWriter::sync() {
  writing_.wait();
  // Whoever was told that a draw could not be written must not go on as if it had been.
  if (incomplete_ > 0) throw Error(ErrorKind::io, fmt::format("{}: a draw could not be written", file_.path()));
  file_.sync();
}

namespace {

// The checksums of the pieces of the record that begins there; none, if their own is wrong.
std::vector<std::uint64_t> read_sums(const ReadFile& file, std::uint64_t begin, const DrawPieces& pieces) {
  DrawHead head;
  std::vector<std::uint64_t> words(words_at_end(pieces));
  file.read(begin, &head, sizeof head);
  file.read(begin + place_of_sum(pieces, 0), words.data(), words.size() * sizeof words[0]);
  const std::uint64_t sum = words.back();
  words.pop_back();
  if (sum != sum_of_sums(head, words.data(), words.size())) words.clear();
  return words;
}

// Whether the record that begins there has the right checksums.
bool is_whole(const ReadFile& file, std::uint64_t begin, const DrawPieces& pieces) {
  const std::vector<std::uint64_t> sums = read_sums(file, begin, pieces);
  std::vector<std::byte> bytes;
  for (std::size_t p = 0; p < sums.size(); ++p) {
    const DrawPiece piece = pieces[p];
    bytes.resize(piece.bytes);
    file.read(begin + place_of_piece(piece), bytes.data(), bytes.size());
    if (hash_of(bytes.data(), bytes.size()) != sums[p]) return false;
  }
  return !sums.empty();
}

[[noreturn]] void throw_damaged_draw(const ReadFile& file, std::size_t i) {
  throw Error(ErrorKind::input, fmt::format("{}: draw {} is damaged (wrong checksum)", file.path(), i + 1));
}

}  // namespace

std::vector<std::uint64_t> keep_draws(const std::string& path, const DrawLayout& layout, const KeepsSweep& keeps) {
  std::vector<std::uint64_t> draws(layout.chains, 0);
  std::error_code no_access;
  if (!std::filesystem::exists(path, no_access)) return draws;
  std::vector<Extent> kept;
  {
    const ReadFile file(path);
    const DrawPieces pieces(layout);
    const std::uint64_t bytes = record_bytes(pieces);
    std::vector<std::uint32_t> last(layout.chains, 0);  // a draw may be there twice (run/ranks.hpp)
    for (std::uint64_t begin = 0; begin + bytes <= file.length(); begin += bytes) {
      DrawHead head;
      file.read(begin, &head, sizeof head);
      if (head.chain >= layout.chains || head.sweep <= last[head.chain] || !keeps(head.chain, head.sweep) ||
          !is_whole(file, begin, pieces))
        continue;
      last[head.chain] = head.sweep;
      ++draws[head.chain];
      add_extent(kept, {begin, begin + bytes});
    }
  }
  keep_extents(path, kept);
  return draws;
}

DrawLogReader::DrawLogReader(const std::string& path, DrawLayout layout)
    : layout_(std::move(layout)), pieces_(layout_), file_(path) {
  // A kill may have left an incomplete record at the end, which is ignored.
  const std::uint64_t complete = file_.length() / record_bytes(pieces_);
  for (std::uint64_t i = 0; i < complete; ++i) {
    DrawHead head;
    file_.read(record(i), &head, sizeof head);
    if (head.chain >= layout_.chains || head.occupied() > layout_.factors.components())
      throw Error(ErrorKind::input, fmt::format("{}: draw {} is damaged: chain {} of {}, {} of {} components",
                                                file_.path(), i + 1, head.chain + std::uint64_t{1}, layout_.chains,
                                                head.occupied(), layout_.factors.components()));
    heads_.push_back(head);
  }
}

std::uint64_t DrawLogReader::record(std::size_t i) const {
  return i * record_bytes(pieces_);
}

void DrawLogReader::unpack_piece(std::size_t i, std::size_t p, const std::vector<std::byte>& stored, std::size_t wanted,
                                 float* values) const {
  const DrawPiece piece = pieces_[p];
  if (!piece.packed())
    std::memcpy(values, stored.data(), wanted * sizeof(float));
  else if (!unpack(stored.data(), stored.size(), piece.of_chunk, wanted, values))
    throw_damaged_draw(file_, i);
}

void DrawLogReader::read(std::size_t i, std::uint64_t first, std::size_t count, float* values) const {
  std::vector<std::byte> bytes;
  std::vector<float> unpacked;
  for (const std::uint64_t end = first + count; first < end;) {
    const std::size_t p = pieces_.with_number(first);
    const DrawPiece piece = pieces_[p];
    const auto here = static_cast<std::size_t>(std::min(end, piece.end()) - first),
               skipped = static_cast<std::size_t>(first - piece.first);
    const std::uint64_t place = record(i) + place_of_piece(piece);
    if (piece.packed()) {
      bytes.resize(piece.bytes);
      file_.read(place, bytes.data(), bytes.size());
      unpacked.resize(skipped + here);
      unpack_piece(i, p, bytes, unpacked.size(), unpacked.data());
      std::copy_n(unpacked.data() + skipped, here, values);
    } else {
      file_.read(place + sizeof(float) * skipped, values, here * sizeof(float));
    }
    values += here;
    first += here;
  }
}

std::vector<std::byte> DrawLogReader::stored_piece(std::size_t i, std::size_t p) const {
  const DrawPiece piece = pieces_[p];
  std::vector<std::byte> bytes(piece.bytes);
  std::uint64_t sum = 0;
  file_.read(record(i) + place_of_piece(piece), bytes.data(), bytes.size());
  file_.read(record(i) + place_of_sum(pieces_, p), &sum, sizeof sum);
  if (sum != hash_of(bytes.data(), bytes.size())) throw_damaged_draw(file_, i);
  return bytes;
}

void DrawLogReader::read_piece(std::size_t i, std::size_t p, float* values) const {
  unpack_piece(i, p, stored_piece(i, p), pieces_[p].floats, values);
}

void DrawLogReader::verify_sums(std::size_t i) const {
  if (read_sums(file_, record(i), pieces_).empty()) throw_damaged_draw(file_, i);
}

void DrawLogReader::load(std::size_t i, State& state) const {
  std::vector<float> values;
  for (const DrawVariable& variable : layout_.variables) {
    const auto read_rows = [&](Range rows) {
      values.resize(rows.size() * variable.columns);
      read(i, variable.offset + rows.begin * variable.columns, values.size(), values.data());
    };
    switch (variable.kind) {
      case DrawVariable::Kind::weight:
        if (variable.index != 0) break;
        read_rows({0, 1});
        for (std::size_t r = 0; r < values.size(); ++r)
          state.tensor.log_weight[r] = std::log(static_cast<double>(values[r]));
        break;
      case DrawVariable::Kind::column:
        read_rows({0, 1});
        for (std::size_t r = 0; r < values.size(); ++r)
          state.layout.columns_of_mode(variable.index)[r] = static_cast<std::uint32_t>(values[r]) - 1;
        break;
      case DrawVariable::Kind::factor: {
        const std::size_t at_a_time = std::max<std::size_t>(1, floats_at_a_time / variable.columns);
        const Blocks blocks{variable.rows, variable.packed ? variable.rows_of_a_slab() : at_a_time};
        for (std::size_t b = 0; b < blocks.count(); ++b) {
          const Range rows{blocks.begin(b), blocks.end(b)};
          read_rows(rows);
          for (float& value : values) value *= static_cast<float>(variable.rows);
          state.factors[variable.index]->write(rows, values.data());
        }
        break;
      }
      default:
        break;
    }
  }
}

double DrawLogReader::learned(std::size_t i, std::size_t which) const {
  float value = 0;
  read(i, layout_.variable(DrawVariable::Kind::learned, which).offset, 1, &value);
  return static_cast<double>(value);
}

}  // namespace ztp
