// Public data sets from their public homes to a folder that the other commands read.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ztp {

struct DataSetInfo {
  std::string name;         // of the folder, too
  std::string about;        // one line
  std::string modes;        // sizes and names
  std::string home;         // address that the names of its files are appended to
  std::string terms_short;  // a few words
  std::string terms;        // sentences
};

// In the order in which they are listed.
std::vector<DataSetInfo> list_data_sets();

struct FetchOptions {
  std::string out;        // the folder to make
  std::string from;       // a mirror: the address that takes the place of the home; http or https
  bool force = false;     // replace a folder, if a fetch made it and nothing else is in it
  unsigned timeout = 60;  // seconds without a byte after which a server is given up
};

struct FetchedFile {
  std::string url;
  std::uint64_t bytes = 0;
  std::string sha256;
  std::string published;  // "md5 ...": the checksum that was published, and agreed; empty where there is none
};

struct FetchSummary {
  bool stopped = false;  // on request: there is no folder, and the rest says nothing
  std::vector<FetchedFile> sources;
  std::vector<std::string> files;                            // of the folder
  std::vector<std::pair<std::string, std::uint64_t>> modes;  // names and sizes
  std::uint64_t ones = 0;
  std::uint64_t edges = 0;         // of the network, if there is one
  std::vector<std::string> notes;  // what was left out of the source, and the like
};

// Called now and then: the file that is being downloaded, its bytes so far, and all of them (0 where the server does
// not tell).
using FetchProgress = std::function<void(const std::string& file, std::uint64_t bytes, std::uint64_t total)>;

// Downloads, checks, converts and writes. The folder appears when it is complete; whatever goes wrong before leaves
// nothing. Errors: usage for a name or an address that cannot be, config for a folder that may not be replaced, io for
// the network and the disk, input for a wrong checksum and for contents that are not what they should be. `stop` is
// asked now and then whether to give up.
FetchSummary fetch(const std::string& name, const FetchOptions& options, const FetchProgress& progress = {},
                   const std::function<bool()>& stop = {});

}  // namespace ztp
