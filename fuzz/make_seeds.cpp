// Writes the seeds of all targets: make_seeds FOLDER gives FOLDER/TARGET/NAME. Those under fuzz/seeds are inputs that
// once failed.
#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <iostream>

#include "base/section_file.hpp"
#include "harness.hpp"
#include "run/checkpoint.hpp"
#include "run_files.hpp"
#include "store/calibration_file.hpp"
#include "store/draw_log.hpp"
#include "tensor/tensor_writer.hpp"
#include "ztp/options.hpp"
#include "ztp/version.hpp"

namespace {

std::string seeds;  // the folder

void seed(const std::string& target, const std::string& name, const std::string& choice, std::string_view bytes) {
  std::filesystem::create_directories(seeds + "/" + target);
  ztp::write_text(seeds + "/" + target + "/" + name, choice + std::string(bytes));
}

std::string bytes_of(std::initializer_list<unsigned> values) {
  std::string result;
  for (const unsigned value : values) result += static_cast<char>(value);
  return result;
}

struct Text {
  const char* name;
  unsigned format;  // of fuzz::chosen_table: 1 .tsv, 2 .tns, 3 .mtx, 4 .csv
  std::string_view text;
};

constexpr Text texts[] = {
    {"header", 1, "#user\titem\tday\na\tx\tmon\nb\ty\ttue\na\ty\tmon\n"},
    {"values", 1, "a\tx\t1\nb\ty\t0\nc\tz\t2.5\r\nc\tz\t1e3\n\na\ty\t7"},
    {"utf8", 1, "\xef\xbb\xbf# user\titem\n\xc3\xa4\tx y\n#a\tb\n"},
    {"wide", 1, "1\t2\t3\t4\t5\t6\t7\t8\n1\t1\t1\t1\t1\t1\t1\t1\n"},
    {"csv", 4, "user,item,day\r\nann,\"x, \"\"y\"\"\",mon\r\n\"bob\",\"z\r\nz\",tue\r\n,,\r\nann,z,mon\r\n"},
    {"semicolons", 4, "sep=;\nuser;item;n\na;x,y;1\nb;\"z;z\";0\n\"a\";z\t;7\n"},
    {"unquoted", 4, "a,b\nc,d\n#e,f\n\"g\",\"h\ni"},
    {"latin1", 1, "a\tx\nJos\xe9\ty\n"},
    {"frostt", 2, "# comment\n1 2 3 1\n2 2 1 1.0\n30 1 1 4\n\n1 1 1 0\n"},
    {"sptensor", 2, "sptensor\n3\n4 5 6\n2\n1 2 3 1\n4 5 6 2\n"},
    {"large", 2, "2147483648 1 1\n1 2147483648 18446744073709551615\n"},
    {"general", 3, "%%MatrixMarket matrix coordinate real general\n% comment\n3 4 2\n1 2 0.5\n3 4 1\n"},
    {"symmetric", 3, "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n2 1\n3 3\n3 2\n"},
    {"skew", 3, "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n2 1 -4\n"},
    {"huge", 3, "%%MatrixMarket matrix coordinate pattern general\n2147483648 2147483648 1\n2147483648 1\n"},
};

std::string gzip(std::string_view text) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string result(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

std::string zstd(std::string_view text) {
  std::string result(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress(result.data(), result.size(), text.data(), text.size(), 19);
  REQUIRE(!ZSTD_isError(size));
  result.resize(size);
  return result;
}

void make_text() {
  for (const auto& [name, format, text] : texts) {
    for (const unsigned values : {0u, 1u, 2u, 3u})
      seed("fuzz_text", fmt::format("{}{}", name, values), bytes_of({(format & 3) | values << 2, format >> 2 << 4, 5}),
           text);
    seed("fuzz_text", fmt::format("{}_detect", name), bytes_of({1 << 2, 0, 20}), text);
    for (unsigned closed = 1; closed < 8; ++closed)
      seed("fuzz_text", fmt::format("{}_closed{}", name, closed),
           bytes_of({(format & 3) | 1 << 4 | 1 << 6, closed | format >> 2 << 4, 30}), text);
    for (const unsigned values : {0u, 1u}) {
      const std::string choice = bytes_of({(format & 3) | values << 2, format >> 2 << 4, 0});
      seed("fuzz_compressed", fmt::format("{}{}_gz", name, values), choice, gzip(text));
      seed("fuzz_compressed", fmt::format("{}{}_zst", name, values), choice, zstd(text));
    }
  }
  const std::string_view text = texts[0].text;
  const std::string choice = bytes_of({1, 0, 0});
  seed("fuzz_compressed", "two_members", choice, gzip(text) + gzip(text) + std::string(5, '\0'));
  seed("fuzz_compressed", "two_frames", choice,
       zstd(text) + bytes_of({0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 1}) + zstd(text));
  seed("fuzz_compressed", "repeats", choice, gzip(std::string(1 << 16, 'a') + "\tb\n"));
  seed("fuzz_compressed", "wide_window", choice,
       bytes_of({0x28, 0xb5, 0x2f, 0xfd, 0, 0x88, 0x19, 0, 0, 'a', '\t', 'b'}));
}

void make_tensors() {
  ztp::LabelTable words;
  for (const char* word : {"anna", "bert", "", "x y"})
    if (*word != '\0') words.add(word);
  const std::vector<ztp::Mode> named = {{"user", words}, {"item", ztp::LabelTable::numbered(1, 5)}};
  const std::vector<ztp::Mode> numbered = {{"a", ztp::LabelTable::numbered(0, 1u << 31)},
                                           {"b", ztp::LabelTable::numbered(1, 9)},
                                           {"c", ztp::LabelTable::numbered(1, 2)}};
  for (const bool counted : {false, true})
    for (const auto* modes : {&named, &numbered}) {
      const std::string path = seeds + "/tensor";
      ztp::TensorWriter writer(path, *modes, counted, 2);
      for (std::uint32_t e = 0; e < 3; ++e) {
        const std::uint32_t cell[3] = {e % 3, e, 1};
        writer.add(cell, 1 + e);
      }
      writer.commit();
      for (const unsigned keep : {0u, 32u, 64u, 31u})
        seed("fuzz_tensor", fmt::format("{}{}{}", modes == &named ? "named" : "numbered", counted ? 1 : 0, keep),
             bytes_of({keep}), ztp::read_text(path));
      std::filesystem::remove(path);
    }
}

using Sections = std::vector<std::pair<std::string, std::string>>;

template <class T>
std::string raw(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

void section_seed(const std::string& target, const std::string& name, unsigned choice, const Sections& sections) {
  const std::string path = seeds + "/sections";
  ztp::SectionWriter writer(path);
  for (const auto& [section, bytes] : sections) writer.section(section, bytes.data(), bytes.size());
  writer.commit();
  seed(target, name, bytes_of({choice}), ztp::read_text(path));
  std::filesystem::remove(path);
}

void make_sections() {
  using Id = std::uint32_t;
  const std::string pairs = raw<Id>({0, 1, 1, 2});
  section_seed("fuzz_sections", "plain", 0, {{"coords", raw<Id>({0, 1, 2, 4})}, {"counts", ""}, {"edges1", pairs}});
  section_seed("fuzz_sections", "counts", 8,
               {{"coords", raw<Id>({0, 1, 2, 4})}, {"counts", raw<std::int64_t>({3, 1})}, {"edges1", pairs}});
  section_seed("fuzz_sections", "three_modes", 2,
               {{"coords", raw<Id>({0, 1, 1, 2, 4, 0})}, {"counts", ""}, {"edges1", pairs}});
  section_seed("fuzz_sections", "missing", 4,
               {{"coords", raw<Id>({0, 1, 2, 4})},
                {"counts", ""},
                {"edges1", pairs},
                {"edges2", raw<Id>({0, 4})},
                {"missing_slices1", raw<Id>({1})},
                {"missing_cells", raw<Id>({0, 2, 0, 3})},
                {"missing_pairs1", raw<Id>({0, 2})},
                {"missing_pairs2", raw<Id>({1, 2, 3, 4})}});
  section_seed("fuzz_sections", "checked", 1, {{"coords", ""}, {"counts", ""}, {"edges1", ""}});
  ztp::RunCalibration calibration;
  calibration.map = ztp::CalibrationMap{};
  calibration.of_fold.resize(ztp::calibration_folds);
  calibration.tested = 1;
  for (const Id id : {0u, 1u, 2u, 4u}) calibration.coords.push_back(id);
  for (const std::uint8_t one : {std::uint8_t{1}, std::uint8_t{0}}) {
    calibration.outcome.push_back(one);
    calibration.weight.push_back(one != 0 ? 1 : 2.5);
    calibration.fold.push_back(one);
  }
  ztp::store_calibration(seeds, calibration);
  seed("fuzz_sections", "calibration", bytes_of({0}), ztp::read_text(seeds + "/calibration.bin"));
  ztp::remove_calibration(seeds);
  ztp::FitOptions options;
  options.chains = 2;
  const std::string padding(13 * sizeof(std::int64_t), '\0');  // of a row, to 16 counts
  const std::string rows = raw<std::int64_t>({0, 3, 0}) + padding + raw<std::int64_t>({1ll << 40, 0, 0}) + padding;
  const std::string position(sizeof(ztp::CheckpointPosition), '\0');
  const Sections checkpoint = {{"format", raw<std::uint32_t>({2})},
                               {"version", ztp::version()},
                               {"options", ztp::options_to_json(options)},
                               {"position", position},
                               {"fingerprint", "0123456789abcdef"},
                               {"held_out", raw<double>({0.5, 0.25})},
                               {"scale", raw<double>({1})},
                               {"tensor", raw<std::int64_t>({1, 2, 3})},
                               {"rows0", rows}};
  for (const unsigned choice : {0u, 1u, 2u, 3u})
    section_seed("fuzz_checkpoint", fmt::format("plain{}", choice), choice, checkpoint);
}

void make_json() {
  const std::string options(fuzz::good_options), status(fuzz::good_status);
  seed("fuzz_json", "both", bytes_of({0}), options + "---\n" + status);
  seed("fuzz_json", "options", bytes_of({2}), options);
  seed("fuzz_json", "status", bytes_of({1}), status);
  seed("fuzz_json", "manifest", bytes_of({1 | 2 | 8}),
       "{\"format\": 1, \"files\": {\"options.json\": {\"bytes\": 1522, \"xxh3\": \"0d6947cdef5b7fb0\"}}}");
  const std::size_t begin = options.find("{\"model\"");
  seed("fuzz_json", "inner", bytes_of({4}), options.substr(begin, options.find('}') + 1 - begin));
}

void make_labels() {
  const struct {
    unsigned choice;
    const char* text;
  } files[] = {{0, "#label\nanna\nbert\ncleo\ndora\n#d\n"},
               {0, "zoe\tmore\nanna\nbert\r\ncleo\n\n#d"},
               {1, "dora\n"},
               {1, "#user\nanna\n"},
               {2, "anna\tbert\ncleo\tanna\nanna\tanna\n"},
               {3, "#user\titem\nanna\ty\n"},
               {4, "anna\tcleo\nbert\tcleo\n"},
               {5, "#user\titem\toutcome\nanna\ty\t0\nbert\ty\t1\n"},
               {6, "1 1 1\n30 2 1\n"},
               {6, "2147483647 1 1\n"},
               {7, "%%MatrixMarket matrix coordinate pattern general\n2147483648 4 1\n1 2\n"},
               {8, "sptensor\n2\n2147483648 5\n1\n3 1 1\n"},
               {9, "mode1\tanna\n7\tzoe\n"},
               {10, "1 2 1\n4 3 2\n"},
               {15, "\xef\xbb\xbfone\ntwo\n"},
               {1, "zoe\n\xe9\n"},
               {2, "user,user\nzoe,anna\n\"bert\",cleo\n"},
               {3, "user,item\nanna,\"new, y\"\nzoe,x\n"}};
  unsigned number = 0;
  for (const auto& [choice, text] : files)
    for (const unsigned numbers : {0u, 16u})
      seed("fuzz_labels", fmt::format("file{}", ++number), bytes_of({choice | numbers}), text);
}

void make_chains() {
  std::string trace =
      "chain\tsweep\tseconds\tlog_likelihood\toccupied\tauc_roc\ttotal_weight\tnetwork_only\tdirichlet_user\n";
  std::string cells = "chain\tsweep\tc1\tc2\n";
  for (int chain = 0; chain < 2; ++chain)
    for (int sweep = 16; sweep <= 40; ++sweep) {
      const double wave = 0.3 + 0.1 * ((sweep * 7 + chain) % 5);
      trace += fmt::format("{}\t{}\t{:.2f}\t{:.1f}\t{}\t\t{:.2f}\t0\t{:.1f}\n", chain, sweep, 0.01 * sweep, -20 * wave,
                           1 + sweep % 2, wave, wave);
      if (sweep > 20) cells += fmt::format("{}\t{}\t{:.1f}\t{:.1f}\n", chain, sweep, wave, 1 - wave);
    }
  const std::string watched = "#user\titem\toutcome\nanna\t1\t1\nbert\t2\t\n";
  seed("fuzz_chains", "all", "", trace + "---\n" + cells + "---\n" + watched);
  seed("fuzz_chains", "short", "", trace.substr(0, 400) + "---\n" + cells.substr(0, 60) + "---\n" + watched);
  seed("fuzz_chains", "odd", "",
       "sweep\tchain\tseconds\tlog_likelihood\toccupied\n21\t0\t1\tnan\t-inf\n22\t0\t1e300\t1e308\t1e-"
       "320\n23\t0\t\t\t\n");
}

void make_draws() {
  for (const unsigned choice : {0u, 1u + (2u << 2) + 16 + 32, 64u, 128u}) {
    const std::size_t R = 1 + (choice & 3), first = 1 + (choice >> 2 & 3);
    const std::size_t floats = 2 * R * (1 + (choice >> 4 & 1)) + (choice >> 5 & 1) + (first + 2) * R;
    std::string bytes;
    for (std::uint32_t i = 0; i < 3; ++i) {
      const ztp::DrawHead head{i % 2, 10 * i, {std::bit_cast<std::uint64_t>(-1.5), 1}};
      bytes.append(reinterpret_cast<const char*>(&head), sizeof head).append(4 * floats + 8, '\x3d');
    }
    seed("fuzz_draws", fmt::format("draws{}", choice), bytes_of({choice}), bytes);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_seeds FOLDER\n";
    return 1;
  }
  seeds = argv[1];
  std::filesystem::create_directories(seeds);
  make_text();
  make_tensors();
  make_sections();
  make_json();
  make_labels();
  make_chains();
  make_draws();
}
