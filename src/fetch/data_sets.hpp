// The data sets that can be fetched: where their files are, and what is made of them.
#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "fetch/fetch.hpp"
#include "fetch/source_text.hpp"

namespace ztp {

// A downloaded file, by its name at the home.
struct Source {
  std::string url;
  std::string bytes;
};
using Sources = std::map<std::string, Source>;

enum class Published { nothing, md5_beside };  // md5_beside: in a file of the same name and .md5

struct SourceFile {
  std::string name;
  Published checksum = Published::nothing;
};

struct DataSet {
  DataSetInfo info;
  std::vector<SourceFile> files;
  std::string transformation;  // sentences, for the folder's README.md
  Converted (*convert)(const Sources& sources);
};

const std::vector<DataSet>& data_sets();

// Several times the size of the largest, so that a server that never ends, or an archive that was made to, is noticed.
inline constexpr std::size_t max_download_bytes = std::size_t{64} << 20;
inline constexpr std::size_t max_unpacked_bytes = std::size_t{256} << 20;

Converted convert_movielens(const Sources& sources);
Converted convert_kinship(const Sources& sources);
Converted convert_umls(const Sources& sources);
Converted convert_facebook(const Sources& sources);
Converted convert_fb15k_237(const Sources& sources);
Converted convert_dblp(const Sources& sources);

}  // namespace ztp
