// The numbers of a draw as they are stored: in pieces, each of which is written, checked and read by itself. A slab of
// a packed variable (store/packed.hpp) is a piece, and a chunk of draws.nc. What is between packed variables is cut
// into pieces of floats as they are.
#pragma once
#include <cstdint>
#include <vector>

#include "store/draw_layout.hpp"

namespace ztp {

struct DrawPiece {
  std::uint64_t first;   // of the numbers of the draw
  std::size_t floats;    // how many
  std::size_t of_chunk;  // floats of the whole chunk, of which the last may have fewer; 0: not packed
  std::uint64_t begin;   // its first byte, counted from that of the first piece
  std::size_t bytes;

  std::uint64_t end() const { return first + floats; }
  bool packed() const { return of_chunk != 0; }
};

class DrawPieces {
 public:
  explicit DrawPieces(const DrawLayout& layout);
  std::size_t count() const { return stretches_.back().first_piece + stretches_.back().pieces(); }
  DrawPiece operator[](std::size_t p) const;
  std::size_t with_number(std::uint64_t i) const;  // the piece that has it
  std::uint64_t bytes() const;                     // of all pieces
  std::size_t most_floats() const;                 // of a piece

 private:
  struct Stretch {  // pieces of one size
    std::uint64_t first, floats;
    std::size_t piece;  // floats of one
    bool packed;
    std::size_t first_piece;
    std::uint64_t begin;

    std::size_t pieces() const { return static_cast<std::size_t>((floats + piece - 1) / piece); }
    std::uint64_t bytes() const;
  };
  void add(std::uint64_t first, std::uint64_t floats, std::size_t piece, bool packed);
  std::vector<Stretch> stretches_;
};

}  // namespace ztp
