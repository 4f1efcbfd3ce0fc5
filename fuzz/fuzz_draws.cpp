// draws.log. The first byte chooses what a draw consists of; checksums are made right unless its highest bit is set.
#include "base/hash.hpp"
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
  const ztp::DrawPieces pieces(layout);
  for (std::uint64_t at = 0; (choice & 128) == 0 && at + record <= bytes.size(); at += record) {
    const std::uint64_t values = at + sizeof(ztp::DrawHead), sums = values + pieces.bytes();
    for (std::size_t p = 0; p < pieces.count(); ++p)
      fuzz::store(bytes, sums + 8 * p, ztp::hash_of(bytes.data() + values + pieces[p].begin, pieces[p].bytes));
    ztp::Hash hash;
    hash.add(bytes.data() + at, sizeof(ztp::DrawHead));
    hash.add(bytes.data() + sums, 8 * pieces.count());
    fuzz::store(bytes, sums + 8 * pieces.count(), hash.sum());
  }
  const std::string path = fuzz::write_file("draws.log", bytes);
  fuzz::accepted([&] {
    const ztp::DrawLogReader log(path, layout);
    REQUIRE(log.draws() == bytes.size() / record);
    std::vector<float> values(log.draws() > 0 ? layout.floats() : 0);
    for (std::size_t i = 0; i < log.draws(); ++i) {
      REQUIRE(log.head(i).chain < layout.chains && log.head(i).occupied() <= layout.factors.components());
      log.read(i, 0, values.size(), values.data());
      log.verify_sums(i);
      for (std::size_t p = 0; p < pieces.count(); ++p) log.read_piece(i, p, values.data() + pieces[p].first);
    }
  });
  return 0;
}
