#include "store/draw_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "base/hash.hpp"
#include "base/pool.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr std::size_t floats_at_a_time = 1 << 18;

// The floats of a record, which are hashed and appended piece by piece in the background.
class FloatSink {
 public:
  FloatSink(AppendFile& file, std::shared_ptr<Hash> hash, Background& writing)
      : file_(file), hash_(std::move(hash)), writing_(writing) {}
  void put(float value) {
    if (piece_.size() == floats_at_a_time) flush();
    piece_.push_back(value);
  }
  void put_divided(const float* values, std::size_t count, float by) {
    while (count > 0) {
      if (piece_.size() == floats_at_a_time) flush();
      const std::size_t here = std::min(count, floats_at_a_time - piece_.size()), before = piece_.size();
      piece_.resize(before + here);
      for (std::size_t i = 0; i < here; ++i) piece_[before + i] = values[i] / by;
      values += here;
      count -= here;
    }
  }
  void flush() {
    const std::size_t bytes = piece_.size() * sizeof(float);
    writing_.run(bytes, [file = &file_, hash = hash_, bytes, piece = std::move(piece_)] {
      hash->add(piece.data(), bytes);
      file->append(piece.data(), bytes);
    });
    piece_ = {};
    piece_.reserve(floats_at_a_time);
  }

 private:
  AppendFile& file_;
  std::shared_ptr<Hash> hash_;  // outlives a record that could not be written whole
  Background& writing_;
  std::vector<float> piece_;
};

void put_exp(FloatSink& sink, const std::vector<double>& logs) {
  for (const double value : logs) sink.put(static_cast<float>(std::exp(value)));
}

void put(FloatSink& sink, const DrawVariable& variable, const State& state, const SweepReport& report) {
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
      collect_blocks_of_rows(
          u, [&](Range rows, const float* values) { sink.put_divided(values, rows.size() * u.columns(), n); });
  }
}

}  // namespace

std::uint64_t record_bytes(const DrawLayout& layout) {
  return sizeof(DrawHead) + layout.bytes() + sizeof(std::uint64_t);
}

DrawLogWriter::DrawLogWriter(const std::string& path, DrawLayout layout, std::uint64_t length)
    : layout_(std::move(layout)), file_(path, length), writing_(waiting_bytes(layout_)) {}

std::size_t DrawLogWriter::waiting_bytes(const DrawLayout& layout) {
  return std::clamp<std::size_t>(record_bytes(layout), std::size_t{1} << 20, std::size_t{64} << 20);
}

void DrawLogWriter::append(const State& state, const SweepReport& report) {
  const DrawHead head = draw_head(report);
  const auto hash = std::make_shared<Hash>();
  writing_.run(sizeof head, [this, head, hash] {
    hash->add(&head, sizeof head);
    file_.append(&head, sizeof head);
  });
  FloatSink sink(file_, hash, writing_);
  for (const DrawVariable& variable : layout_.variables) put(sink, variable, state, report);
  sink.flush();
  writing_.run(sizeof(std::uint64_t), [this, hash] {
    const std::uint64_t sum = hash->sum();
    file_.append(&sum, sizeof sum);
  });
}

void DrawLogWriter::sync() {
  writing_.wait();
  file_.sync();
}

void DrawLogWriter::append(const DrawHead& head, const std::vector<float>& values) {
  writing_.wait();
  Hash hash;
  hash.add(&head, sizeof head);
  hash.add(values.data(), values.size() * sizeof(float));
  const std::uint64_t sum = hash.sum();
  file_.append(&head, sizeof head);
  file_.append(values.data(), values.size() * sizeof(float));
  file_.append(&sum, sizeof sum);
}

namespace {

// Whether the record that begins there has the right checksum.
bool is_whole(const ReadFile& file, std::uint64_t begin, const DrawLayout& layout) {
  const std::uint64_t bytes = record_bytes(layout) - sizeof(std::uint64_t);
  Hash hash;
  hash.add(file, begin, bytes);
  std::uint64_t sum = 0;
  file.read(begin + bytes, &sum, sizeof sum);
  return sum == hash.sum();
}

}  // namespace

std::vector<std::uint64_t> keep_draws(const std::string& path, const DrawLayout& layout, const KeepsSweep& keeps) {
  std::vector<std::uint64_t> draws(layout.chains, 0);
  std::error_code no_access;
  if (!std::filesystem::exists(path, no_access)) return draws;
  std::vector<Extent> kept;
  {
    const ReadFile file(path);
    const std::uint64_t bytes = record_bytes(layout);
    std::vector<std::uint32_t> last(layout.chains, 0);  // a draw may be there twice (run/ranks.hpp)
    for (std::uint64_t begin = 0; begin + bytes <= file.length(); begin += bytes) {
      DrawHead head;
      file.read(begin, &head, sizeof head);
      if (head.chain >= layout.chains || head.sweep <= last[head.chain] || !keeps(head.chain, head.sweep) ||
          !is_whole(file, begin, layout))
        continue;
      last[head.chain] = head.sweep;
      ++draws[head.chain];
      add_extent(kept, {begin, begin + bytes});
    }
  }
  keep_extents(path, kept);
  return draws;
}

DrawLogReader::DrawLogReader(const std::string& path, DrawLayout layout) : layout_(std::move(layout)), file_(path) {
  // A kill may have left an incomplete record at the end, which is ignored.
  const std::uint64_t complete = file_.length() / record_bytes(layout_);
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
  return i * record_bytes(layout_);
}

void DrawLogReader::read(std::size_t i, std::uint64_t first, std::size_t count, float* values) const {
  file_.read(record(i) + sizeof(DrawHead) + 4 * first, values, count * sizeof(float));
}

void DrawLogReader::verify(std::size_t i) const {
  Hash hash;
  hash.add(&heads_[i], sizeof(DrawHead));
  hash.add(file_, record(i) + sizeof(DrawHead), layout_.bytes());
  std::uint64_t sum;
  file_.read(record(i) + sizeof(DrawHead) + layout_.bytes(), &sum, sizeof sum);
  if (sum != hash.sum())
    throw Error(ErrorKind::input, fmt::format("{}: draw {} is damaged (wrong checksum)", file_.path(), i + 1));
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
        const Blocks blocks{variable.rows, std::max<std::size_t>(1, floats_at_a_time / variable.columns)};
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
