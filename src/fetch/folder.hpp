// The folder of a fetched data set: complete under its name, or not there.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace ztp {

inline constexpr const char* folder_record = "fetch.json";  // by which a folder is known as one that a fetch made
inline constexpr const char* folder_maker = "ztp data fetch";

class DataFolder {
 public:
  // An Error of kind config if something is there that may not be replaced: anything without `force`; with it, anything
  // but a folder that a fetch made and nobody has put other files into.
  DataFolder(const std::string& path, bool force);
  ~DataFolder();
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;

  // Writes the files beside, and then gives the folder its name.
  void write(const std::vector<std::pair<std::string, std::string>>& files);

 private:
  void take_name();

  std::string path_;
  std::string partial_;  // not empty while there is something to remove
  bool replaces_ = false;
};

}  // namespace ztp
