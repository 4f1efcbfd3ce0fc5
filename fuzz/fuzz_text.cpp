// Text files of cells: .tsv, .csv, .tns, .mtx. Two bytes choose how they are read, the third how small the blocks are; what
// comes out may not depend on the blocks.
#include "text_table.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const unsigned first = input.byte(), second = input.byte(), small = 1 + input.byte();
  const ztp::TableSpec spec = fuzz::chosen_table(fuzz::write_file("cells", input.rest()), first, second);
  constexpr std::size_t whole = 1 << 12;  // the default, 1 MiB, takes the sanitizers longer than all the rest
  const std::size_t large = second >> 7 ? ztp::TableSpec().block_bytes : whole;
  REQUIRE(fuzz::cells_of(spec, large) == fuzz::cells_of(spec, small));
  return 0;
}
