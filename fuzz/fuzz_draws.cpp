// draws.log. The first byte chooses what a draw consists of; checksums are made right unless its highest bit is set.
#include <xxhash.h>

#include "harness.hpp"
#include "store/draw_log.hpp"
#include "ztp/labels.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const unsigned choice = input.byte();
  ztp::FitOptions options;
  options.rank = 1 + (choice & 3);
  options.chains = 2;
  options.model = choice & 32 ? ztp::Model::logistic : ztp::Model::ztp;  // a rival learns its intercept
  // With the largest mode a record is longer than any file here.
  const std::uint32_t first = choice & 64 ? ztp::max_mode_size : 1 + (choice >> 2 & 3);
  const ztp::DrawLayout layout(ztp::FactorLayout::cp({first, 2}, 1 + (choice & 3)), options, {"a", "b"},
                               std::vector<std::size_t>(choice >> 4 & 1, 0));
  std::string bytes(input.rest());
  const std::uint64_t record = record_bytes(layout);
  if ((choice & 128) == 0)
    for (std::uint64_t at = 0; at + record <= bytes.size(); at += record)
      fuzz::store(bytes, at + record - 8, XXH3_64bits(bytes.data() + at, record - 8));
  const std::string path = fuzz::write_file("draws.log", bytes);
  fuzz::accepted([&] {
    const ztp::DrawLogReader log(path, layout);
    REQUIRE(log.draws() == bytes.size() / record);
    std::vector<float> values(log.draws() > 0 ? layout.floats() : 0);
    for (std::size_t i = 0; i < log.draws(); ++i) {
      REQUIRE(log.head(i).chain < layout.chains && log.head(i).occupied() <= layout.factors.components());
      log.read(i, 0, values.size(), values.data());
      log.verify(i);
    }
  });
  return 0;
}
