#include "store/draw_pieces.hpp"

#include <algorithm>

#include "store/packed.hpp"

namespace ztp {
namespace {

constexpr std::size_t floats_of_piece = 1 << 16;  // that is not packed

}  // namespace

std::uint64_t DrawPieces::Stretch::bytes() const {
  return packed ? pieces() * packed_bytes(piece) : sizeof(float) * floats;
}

DrawPieces::DrawPieces(const DrawLayout& layout) {
  std::uint64_t plain = 0;  // where numbers begin that are in no stretch yet
  for (const DrawVariable& variable : layout.variables) {
    if (!variable.packed) continue;
    add(plain, variable.offset - plain, floats_of_piece, false);
    add(variable.offset, variable.floats(), variable.rows_of_a_slab() * variable.columns, true);
    plain = variable.offset + variable.floats();
  }
  add(plain, layout.floats() - plain, floats_of_piece, false);
}

void DrawPieces::add(std::uint64_t first, std::uint64_t floats, std::size_t piece, bool packed) {
  if (floats == 0) return;
  const bool none = stretches_.empty();
  stretches_.push_back({first, floats, piece, packed, none ? 0 : count(), none ? 0 : bytes()});
}

std::uint64_t DrawPieces::bytes() const {
  return stretches_.back().begin + stretches_.back().bytes();
}

DrawPiece DrawPieces::operator[](std::size_t p) const {
  const Stretch& stretch = *std::find_if(stretches_.rbegin(), stretches_.rend(),
                                         [&](const Stretch& candidate) { return candidate.first_piece <= p; });
  const std::uint64_t i = p - stretch.first_piece, done = i * stretch.piece;
  const auto floats = static_cast<std::size_t>(std::min<std::uint64_t>(stretch.piece, stretch.floats - done));
  const std::size_t whole = stretch.packed ? packed_bytes(stretch.piece) : sizeof(float) * stretch.piece;
  return {stretch.first + done, floats, stretch.packed ? stretch.piece : 0, stretch.begin + i * whole,
          stretch.packed ? whole : sizeof(float) * floats};
}

std::size_t DrawPieces::with_number(std::uint64_t i) const {
  const Stretch& stretch = *std::find_if(stretches_.rbegin(), stretches_.rend(),
                                         [&](const Stretch& candidate) { return candidate.first <= i; });
  return stretch.first_piece + static_cast<std::size_t>((i - stretch.first) / stretch.piece);
}

std::size_t DrawPieces::most_floats() const {
  std::uint64_t most = 0;
  for (const Stretch& stretch : stretches_)
    most = std::max(most, std::min<std::uint64_t>(stretch.piece, stretch.floats));
  return static_cast<std::size_t>(most);
}

}  // namespace ztp
