// The files beside a tensor: lists of labels, missing entities, cells and pairs, networks, test cells. The first byte
// chooses which of them is read; the tensor is small and good, except that some choices read the bytes as the tensor,
// with good lists beside it.
#include "harness.hpp"
#include "io/grow_modes.hpp"
#include "io/label_files.hpp"
#include "io/table.hpp"
#include "io/text_writer.hpp"
#include "ztp/read.hpp"

namespace {

constexpr std::string_view good_tensor = "#user\titem\nanna\tx\nbert\ty\ncleo\tx\n#d\tx y\n";
constexpr std::string_view good_numbers = "1 1 1\n2 3 1\n4 2 1\n";
constexpr std::string_view good_labels = "anna\nbert\ncleo\ndora\n#d\n1\n2\n4\n30\n2147483647\n";

void read_with(ztp::ReadOptions options) {
  const ztp::Dataset data = ztp::read_dataset(options);
  REQUIRE(data.tensor.coords.size() == data.tensor.nnz() * data.tensor.order());
  for (std::size_t i = 0; i < data.tensor.coords.size(); ++i)
    REQUIRE(data.tensor.coords[i] < data.tensor.modes[i % data.tensor.order()].labels.size());
  for (const ztp::Network& network : data.networks)
    for (const std::uint32_t id : network.edges) REQUIRE(id < data.tensor.modes[network.mode].labels.size());
}

// As an update reads more cells of a run.
void grow(const ztp::ReadOptions& options) {
  ztp::Dataset new_data = ztp::read_dataset(options);
  ztp::LabelTable words;
  for (const char* word : {"anna", "bert", "cleo"}) words.add(word);
  std::vector<ztp::Mode> modes = {{"mode1", ztp::LabelTable::numbered(1, 4)}, {"mode2", words}};
  ztp::translate_and_grow(ztp::columns_of(new_data.tensor.modes), {&modes[0], &modes[1]}, options.file,
                          new_data.tensor.coords);
  for (std::size_t i = 0; i < new_data.tensor.coords.size(); ++i)
    REQUIRE(new_data.tensor.coords[i] < modes[i % 2].labels.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string tensor = fuzz::write_file("tensor.tsv", good_tensor),
                           numbers = fuzz::write_file("tensor.tns", good_numbers),
                           labels = fuzz::write_file("labels", good_labels),
                           friends = fuzz::write_file("friends", "anna\tbert\n");
  fuzz::Input input(data, size);
  const unsigned choice = input.byte();
  const std::string path = fuzz::write_file("given", input.rest());
  ztp::ReadOptions options;
  options.file = choice & 16 ? numbers : tensor;
  const std::string mode = choice & 16 ? "mode1" : "user";
  fuzz::accepted([&] {
    switch (choice & 15) {
      case 0:
        options.labels = {mode + "=" + path};
        break;
      case 1:
        options.missing_slices = {mode + "=" + path};
        break;
      case 2:
        options.networks = {mode + "=" + path};
        break;
      case 3:
        options.missing = path;
        break;
      case 4:
        options = {.file = tensor, .networks = {"user=" + friends}, .missing_pairs = {"user=" + path}};
        break;
      case 5:
        ztp::read_test_cells(path, ztp::read_dataset(options).tensor.modes);
        return;
      case 6:
        options = {.file = path, .labels = {"mode1=" + labels}};
        break;
      case 7:
        options = {.file = path, .format = ztp::FileFormat::mtx, .labels = {"mode1=" + labels, "mode2=" + labels}};
        break;
      case 8:
        options = {.file = path, .format = ztp::FileFormat::tns, .missing_slices = {"mode1=" + labels}};
        break;
      case 9:
        return grow({.file = path, .format = choice & 16 ? ztp::FileFormat::tns : ztp::FileFormat::tsv});
      case 10:
        options = {.file = path, .format = ztp::FileFormat::tns, .counts = true, .networks = {"mode1=" + path}};
        break;
      default: {
        const ztp::LabelTable table = ztp::read_label_file(path);
        ztp::write_label_file(path, table);
        const ztp::LabelTable again = ztp::read_label_file(path);
        REQUIRE(again.size() == table.size());
        for (std::uint32_t j = 0; j < table.size(); ++j) REQUIRE(table.find(again[j]) == j);
        return;
      }
    }
    read_with(options);
  });
  return 0;
}
