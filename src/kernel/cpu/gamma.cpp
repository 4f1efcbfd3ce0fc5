// Gamma draws in lanes: the algorithm of kernel/gamma_draw.hpp, in floats.                                  (M5)
#include "kernel/cpu/gamma.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "kernel/cpu/targets.hpp"  // before Highway

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/cpu/gamma.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/cache_control.h>

#include "kernel/cpu/flush.hpp"
#include "kernel/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ztp::cpu::HWY_NAMESPACE {
namespace {

constexpr std::size_t most_rows = 256;

// What a shape asks for: d and c of the algorithm, and log2(e)/a for the boost of shapes below one (zero: no boost).
struct Shape {
  Floats d, c, boost;
};

Shape shape_of(double a) {
  const F32 f;
  const double d = (a < 1 ? a + 1 : a) - 1.0 / 3;
  return {hn::Set(f, static_cast<float>(d)), hn::Set(f, static_cast<float>(1 / (3 * std::sqrt(d)))),
          hn::Set(f, a < 1 ? static_cast<float>(std::numbers::log2e / a) : 0.0f)};
}

// The shapes a + count, of which `empty` is the one of count zero.
HWY_INLINE Shape shape_of(Floats count, float a, const Shape& empty) {
  const F32 f;
  const auto zero = hn::Eq(count, hn::Zero(f));
  const Floats d = hn::IfThenElse(zero, empty.d, hn::Add(count, hn::Set(f, a - 1.0f / 3)));
  return {d, hn::Mul(hn::Set(f, 1.0f / 3), inverse_root(d)), hn::IfThenElseZero(zero, empty.boost)};
}

// Of counts that are not whole numbers: any shape may be below one.
HWY_INLINE Shape shape_of_real(Floats count, float a) {
  const F32 f;
  const Floats one = hn::Set(f, 1.0f), shape = hn::Add(count, hn::Set(f, a));
  const auto small = hn::Lt(shape, one);
  const Floats d = hn::Add(shape, hn::IfThenElse(small, hn::Set(f, 2.0f / 3), hn::Set(f, -1.0f / 3)));
  const Floats boost = hn::Div(hn::Set(f, static_cast<float>(std::numbers::log2e)), shape);
  return {d, hn::Mul(hn::Set(f, 1.0f / 3), inverse_root(d)), hn::IfThenElseZero(small, boost)};
}

struct Candidate {
  Floats x, t, value, uniform;  // normal, c x, the draw, and the number that decides about it
};

template <bool boost>
HWY_INLINE Candidate propose(const Words word[4], const Shape& shape) {
  const F32 f;
  const Floats radius = root(hn::Mul(hn::Set(f, -2.0f), log_positive(uniform31(word[0]))));
  const Floats x = hn::Mul(radius, cosine_of_turn(word[1]));
  const Floats t = hn::Mul(shape.c, x);
  const Floats side = hn::Add(hn::Set(f, 1.0f), t);
  Floats value = hn::Mul(hn::Mul(shape.d, side), hn::Mul(side, side));
  if (boost) value = hn::Mul(value, power_of_two(hn::Mul(log_positive(uniform31(word[3])), shape.boost)));
  return {x, t, value, uniform31(word[2])};
}

// Surely accepted. The probability of acceptance, exp(3 d q(t)), is at least 1 + 3 d q(t), and -q(t) = t^4/4 - t^5/5 +
// ... at most t^4/4 for t > 0 and t^4/4 (1 + 4/5 |t| / (1 - |t|)) for -1 < t < 0; d t^2 = x^2/9. False for t <= -1.
HWY_INLINE hn::Mask<F32> surely_accepted(const Candidate& candidate) {
  const F32 f;
  const Floats one = hn::Set(f, 1.0f), negative = hn::Min(candidate.t, hn::Zero(f));
  const Floats m = hn::Add(one, negative);
  const Floats xt = hn::Mul(candidate.x, candidate.t);
  const Floats miss = hn::Mul(hn::Mul(xt, xt), hn::MulAdd(negative, hn::Set(f, 0.2f / 12), hn::Set(f, 1.0f / 12)));
  return hn::Lt(hn::Mul(candidate.uniform, m), hn::Sub(m, miss));
}

// log(uniform) < 3 d q(t). Near zero q is -t^4/4 + t^5/5 - ..., where its closed form has no digits left.
HWY_INLINE hn::Mask<F32> accepted(const Candidate& candidate, const Shape& shape) {
  const F32 f;
  const Floats t = candidate.t, one = hn::Set(f, 1.0f);
  Floats series = hn::Set(f, 1.0f / 14);
  HWY_UNROLL(10)
  for (int i = 13; i >= 4; --i) series = hn::MulAdd(series, hn::Neg(t), hn::Set(f, 1.0f / static_cast<float>(i)));
  const Floats square = hn::Mul(t, t);
  const Floats near = hn::Neg(hn::Mul(series, hn::Mul(square, square)));
  const Floats root = hn::Max(hn::Add(one, t), hn::Set(f, 1e-30f));
  const Floats cubic = hn::MulAdd(hn::MulAdd(hn::Set(f, 1.0f / 3), t, hn::Set(f, -0.5f)), square, t);
  const Floats far = hn::Sub(log_positive(root), cubic);
  const Floats q = hn::IfThenElse(hn::Lt(hn::Abs(t), hn::Set(f, 0.25f)), near, far);
  const auto below = hn::Lt(log_positive(candidate.uniform), hn::Mul(hn::Mul(hn::Set(f, 3.0f), shape.d), q));
  return hn::And(below, hn::Gt(t, hn::Set(f, -1.0f)));
}

HWY_INLINE Floats load_counts(const std::int32_t* counts, double scale) {
  const I32 i32;
  const Floats value = hn::ConvertTo(F32(), hn::Load(i32, counts));
  if (scale == 1) return value;
  const F64 f64;
  const hn::Half<I32> half_of_counts;
  const hn::Half<F32> half;
  const Doubles factor = hn::Set(f64, scale);
  const auto scaled = [&](const std::int32_t* first) HWY_ATTR {
    return hn::DemoteTo(half, hn::Mul(hn::PromoteTo(f64, hn::Load(half_of_counts, first)), factor));
  };
  return hn::Combine(F32(), scaled(counts + width / 2), scaled(counts));
}

// `width` counts as floats, times `scale`.
HWY_INLINE Floats load_counts(const std::int64_t* counts, double scale) {
  const F64 f64;
  const I64 i64;
  const hn::Half<F32> half;
  const Doubles factor = hn::Set(f64, scale);
  const auto low = hn::DemoteTo(half, hn::Mul(hn::ConvertTo(f64, hn::Load(i64, counts)), factor));
  const auto high = hn::DemoteTo(half, hn::Mul(hn::ConvertTo(f64, hn::Load(i64, counts + width / 2)), factor));
  return hn::Combine(F32(), high, low);
}

// The rows of one call. A lane that is not surely accepted waits in `pending_` as (row in the block, component) until
// there are vectors full of them. `whole`: counts are whole numbers, so that only the shape of no count can be below
// one.
template <bool whole, class T>
class RowBlock {
 public:
  RowBlock(const Matrix<T>& S, const Columns& columns, const Streams& streams, Range rows, HostFactors& u)
      : S_(S),
        a_(columns.a),
        scale_(columns.scale),
        keys_(streams),
        begin_(rows.begin),
        end_(rows.end),
        first_row_(u.first_row()),
        u_(u.values),
        empty_(shape_of(columns.a)) {}

  void draw() {
    static thread_local std::vector<std::uint32_t> pending;
    static thread_local std::vector<float> pending_counts;
    const std::size_t most = most_rows * S_.stride() + 2 * width;
    if (pending.size() < most) pending.resize(most), pending_counts.resize(most);
    pending_ = pending.data();
    pending_count_ = pending_counts.data();
    if (a_ < 1)
      first_attempts<true>();
    else
      first_attempts<false>();
    for (std::uint32_t attempt = 0; waiting_ > 0; ++attempt) retry(attempt);
  }

 private:
  static constexpr std::size_t vectors_together = 16;  // of random words, in cache until they are used

  HWY_INLINE Shape shape_of_count(Floats count) const {
    return whole ? shape_of(count, static_cast<float>(a_), empty_) : shape_of_real(count, static_cast<float>(a_));
  }

  HWY_INLINE Words row_number(std::size_t j) const {
    return hn::Set(U32(), static_cast<std::uint32_t>(first_row_ + j));
  }

  // The full vectors of the rows, one after the other.
  class Full {
   public:
    Full(RowBlock& block, std::size_t columns) : block_(block), columns_(columns) {}
    std::size_t vectors() const { return (block_.end_ - block_.begin_) * (columns_ / width); }
    HWY_INLINE Words row() const { return hn::Set(U32(), static_cast<std::uint32_t>(j_)); }
    HWY_INLINE Words component() const { return hn::Iota(U32(), static_cast<std::uint32_t>(r_)); }
    HWY_INLINE Floats counts() const { return load_counts(block_.S_.row(block_.begin_ + j_) + r_, block_.scale_); }
    HWY_INLINE float* draws() const { return block_.u_.row(block_.begin_ + j_) + r_; }
    std::size_t left() const { return width; }
    HWY_INLINE void next() {
      if ((r_ += width) < columns_) return;
      r_ = 0;
      ++j_;
    }

   private:
    RowBlock& block_;
    std::size_t columns_, j_ = 0, r_ = 0;
  };

  // What the rows have beyond their full vectors, packed: with a vector for each row, lanes of padding would be many of
  // all at small ranks.
  class Tails {
   public:
    Tails(RowBlock& block, std::size_t begin, float* packed)
        : block_(block),
          begin_(hn::Set(I32(), static_cast<std::int32_t>(begin))),
          columns_(block.S_.columns() - begin),
          left_((block.end_ - block.begin_) * columns_),
          packed_(packed) {
      alignas(64) std::int32_t row[width], r[width];
      for (std::size_t l = 0; l < width; ++l) {
        row[l] = static_cast<std::int32_t>(l / columns_);
        r[l] = static_cast<std::int32_t>(l % columns_);
      }
      row_ = hn::Load(I32(), row);
      r_ = hn::Load(I32(), r);
    }
    std::size_t vectors() const { return (left_ + width - 1) / width; }
    HWY_INLINE Words row() const { return hn::BitCast(U32(), row_); }
    HWY_INLINE Words component() const { return hn::BitCast(U32(), hn::Add(r_, begin_)); }
    HWY_INLINE Floats counts() const { return hn::Load(F32(), packed_); }
    HWY_INLINE float* draws() const { return packed_; }
    std::size_t left() const { return left_; }
    HWY_INLINE void next() {
      const auto columns = hn::Set(I32(), static_cast<std::int32_t>(columns_));
      r_ = hn::Add(r_, hn::Set(I32(), static_cast<std::int32_t>(width % columns_)));
      const auto past = hn::Not(hn::Lt(r_, columns));
      r_ = hn::Sub(r_, hn::IfThenElseZero(past, columns));
      row_ = hn::Add(row_, hn::Set(I32(), static_cast<std::int32_t>(width / columns_)));
      row_ = hn::Add(row_, hn::IfThenElseZero(past, hn::Set(I32(), 1)));
      packed_ += width;
      left_ -= width;
    }

    // The counts; what a row's vector has beyond the row, the next one writes over.
    void pack(std::size_t begin) {
      float* to = packed_;
      for (std::size_t j = block_.begin_; j < block_.end_; ++j, to += columns_)
        hn::StoreU(load_counts(block_.S_.row(j) + begin, block_.scale_), F32(), to);
    }
    // The draws, which have taken their places, to their rows.
    void unpack(std::size_t begin) const {
      const F32 f;
      const auto inside = hn::FirstN(f, columns_);
      const float* from = packed_;
      for (std::size_t j = block_.begin_; j < block_.end_; ++j, from += columns_)
        hn::Store(hn::IfThenElseZero(inside, hn::LoadU(f, from)), f, block_.u_.row(j) + begin);
    }

   private:
    RowBlock& block_;
    hn::Vec<I32> begin_;
    std::size_t columns_, left_;
    float* packed_;
    hn::Vec<I32> row_, r_;
  };

  template <bool boost>
  void first_attempts() {
    const std::size_t R = S_.columns(), begin = R - R % width;
    if (begin > 0) draw_vectors<boost>(Full(*this, begin));
    if (begin == R) return;
    static thread_local Matrix<float> packed;
    const std::size_t room = most_rows * width + 2 * width;
    if (packed.columns() < room) packed = Matrix<float>(1, room);
    Tails tails(*this, begin, packed.row(0));
    tails.pack(begin);
    draw_vectors<boost>(tails);
    tails.unpack(begin);
  }

  template <bool boost, class Vectors>
  HWY_INLINE void draw_vectors(Vectors at) {
    const U32 d32;
    const Words first_row = row_number(begin_);
    Vectors ahead = at;
    alignas(64) std::uint32_t words[4 * width * vectors_together];
    for (std::size_t left = at.vectors(); left > 0;) {
      const std::size_t vectors = std::min(vectors_together, left);
      // The words first, the draws second: in one loop each vector would be a chain of dependent steps too long to
      // overlap with the next.
      for (std::size_t v = 0; v < vectors; v += 2) {
        Words index[2], high[2], word[2][4];
        for (const std::size_t i : {0, 1}) {
          index[i] = ahead.component();
          high[i] = hn::Add(ahead.row(), first_row);
          ahead.next();
        }
        random_words<2>(keys_, index, high, 0, word);
        for (std::size_t i = 0; i < 8; ++i) hn::Store(word[i / 4][i % 4], d32, words + (4 * v + i) * width);
      }
      for (std::size_t v = 0; v < vectors; ++v, at.next()) draw_vector<boost>(words + 4 * v * width, at);
      left -= vectors;
    }
  }

  // The first attempts of a vector.
  template <bool boost, class Vectors>
  HWY_INLINE void draw_vector(const std::uint32_t* words, const Vectors& at) {
    const F32 f;
    const U32 d32;
    Words word[4];
    for (std::size_t i = 0; i < 4; ++i) word[i] = hn::Load(d32, words + i * width);
    const Floats count = at.counts();
    const Shape shape = shape_of_count(count);
    const bool no_boost = !boost || hn::AllTrue(f, hn::Eq(shape.boost, hn::Zero(f)));
    const Candidate candidate = no_boost ? propose<false>(word, shape) : propose<true>(word, shape);
    auto wait = hn::Not(surely_accepted(candidate));
    if (HWY_UNLIKELY(at.left() < width)) wait = hn::And(wait, hn::FirstN(f, at.left()));
    hn::Store(candidate.value, f, at.draws());
    waiting_ += put_in_list(hn::Or(hn::ShiftLeft<24>(at.row()), at.component()), count, wait, waiting_);
  }

  // Writes the lanes that wait to the list from this place on, and something after them. Returns how many they are. Not
  // compressed by the store: some machines take a hundred cycles for that.
  HWY_INLINE std::size_t put_in_list(Words tag, Floats count, hn::Mask<F32> wait, std::size_t place) {
    const U32 d32;
    hn::StoreU(hn::Compress(count, wait), F32(), pending_count_ + place);
    hn::StoreU(hn::Compress(tag, hn::RebindMask(d32, wait)), d32, pending_ + place);
    return hn::CountTrue(F32(), wait);
  }

  // One more attempt for all that wait. What is not accepted is stored too: a later attempt writes over it.
  void retry(std::uint32_t attempt) {
    const F32 f;
    const U32 d32;
    const I32 i32;
    for (std::size_t l = 0; l < width; ++l) {  // the last vector is filled up with its last lane
      pending_[waiting_ + l] = pending_[waiting_ - 1];
      pending_count_[waiting_ + l] = pending_count_[waiting_ - 1];
    }
    std::size_t still = 0;
    for (std::size_t i = 0; i < waiting_; i += width) {
      const Words packed = hn::LoadU(d32, pending_ + i);
      const Floats count = hn::LoadU(f, pending_count_ + i);
      const Words row = hn::ShiftRight<24>(packed), r = hn::And(packed, hn::Set(d32, 0xffffffu));
      const Shape shape = shape_of_count(count);
      Words word[4];
      random_words(keys_, r, hn::Add(row, row_number(begin_)), attempt, word);
      const Candidate candidate = propose<true>(word, shape);
      const Words place = hn::Add(hn::Mul(row, hn::Set(d32, static_cast<std::uint32_t>(u_.stride()))), r);
      hn::ScatterIndex(candidate.value, f, u_.row(begin_), hn::BitCast(i32, place));
      auto wait = hn::Not(accepted(candidate, shape));
      if (i + width > waiting_) wait = hn::And(wait, hn::FirstN(f, waiting_ - i));
      still += put_in_list(packed, count, wait, still);
    }
    waiting_ = still;
  }

  const Matrix<T>& S_;
  double a_, scale_;
  RoundKeys keys_;
  std::size_t begin_, end_;
  std::uint64_t first_row_;
  Matrix<float>& u_;
  Shape empty_;
  std::uint32_t* pending_ = nullptr;
  float* pending_count_ = nullptr;
  std::size_t waiting_ = 0;
};

template <class T>
void draw_rows_of(const Matrix<T>& S, const Columns& columns, const Streams& streams, Range rows, HostFactors& u) {
  const FlushToZero flush;
  if (columns.scale == 1)
    RowBlock<true, T>(S, columns, streams, rows, u).draw();
  else
    RowBlock<false, T>(S, columns, streams, rows, u).draw();
}

void draw_rows(const Columns& columns, const Streams& streams, Range rows, HostFactors& u) {
  const HostCounts& S = on_this_host(columns.S);
  if (S.wide())
    draw_rows_of(S.values64(), columns, streams, rows, u);
  else
    draw_rows_of(S.values32(), columns, streams, rows, u);
}

// The columns from r on, two vectors of sums at a time: each is a chain of additions that leaves the machine idle.
void sums_of(const Matrix<float>& u, Range rows, double* sums) {
  const F64 f64;
  const hn::Half<F32> half;
  for (std::size_t r = 0; r < u.columns(); r += width) {
    Doubles low = hn::Zero(f64), high = low;
    for (std::size_t j = rows.begin; j < rows.end; ++j) {
      low = hn::Add(low, hn::PromoteTo(f64, hn::Load(half, u.row(j) + r)));
      high = hn::Add(high, hn::PromoteTo(f64, hn::Load(half, u.row(j) + r + width / 2)));
    }
    hn::Store(low, f64, sums + r);
    hn::Store(high, f64, sums + r + width / 2);
  }
}

template <class T>
void means_of(const Matrix<T>& S, const Columns& columns, const float* factor, Range rows, Matrix<float>& u) {
  const F32 f;
  const bool beyond_cache = u.bytes() > std::size_t{1} << 28;  // then nothing is won by writing through the cache
  for (std::size_t j = rows.begin; j < rows.end; ++j)
    for (std::size_t r = 0; r < u.stride(); r += width) {
      const Floats count = load_counts(S.row(j) + r, columns.scale);
      const Floats shape = hn::Add(count, hn::Set(f, static_cast<float>(columns.a)));
      const Floats mean = hn::Mul(shape, hn::Load(f, factor + r));
      if (beyond_cache)
        hn::Stream(mean, f, u.row(j) + r);
      else
        hn::Store(mean, f, u.row(j) + r);
    }
  if (beyond_cache) hwy::FlushStream();
}

void means(const Columns& columns, const float* factor, Range rows, Matrix<float>& u) {
  const HostCounts& S = on_this_host(columns.S);
  if (S.wide())
    means_of(S.values64(), columns, factor, rows, u);
  else
    means_of(S.values32(), columns, factor, rows, u);
}

void scale(const float* factor, Range rows, Matrix<float>& u) {
  const FlushToZero flush;
  const F32 f;
  for (std::size_t j = rows.begin; j < rows.end; ++j)
    for (std::size_t r = 0; r < u.columns(); r += width)
      hn::Store(hn::Mul(hn::Load(f, u.row(j) + r), hn::Load(f, factor + r)), f, u.row(j) + r);
}

}  // namespace
}  // namespace ztp::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ztp::cpu {

HWY_EXPORT(draw_rows);
HWY_EXPORT(sums_of);
HWY_EXPORT(means);
HWY_EXPORT(scale);

void draw_gamma_rows(const Columns& columns, const Streams& streams, Range rows, HostFactors& u) {
  HWY_DYNAMIC_DISPATCH(draw_rows)(columns, streams, rows, u);
}

void sum_rows(const Matrix<float>& u, Range rows, double* sums) {
  HWY_DYNAMIC_DISPATCH(sums_of)(u, rows, sums);
}

void mean_rows(const Columns& columns, const float* factor, Range rows, Matrix<float>& u) {
  HWY_DYNAMIC_DISPATCH(means)(columns, factor, rows, u);
}

void scale_rows(const float* factor, Range rows, Matrix<float>& u) {
  HWY_DYNAMIC_DISPATCH(scale)(factor, rows, u);
}

}  // namespace ztp::cpu
#endif
