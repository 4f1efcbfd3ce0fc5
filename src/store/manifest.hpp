// manifest.json: length and XXH3 of the files of a run whose format has no checksums; of a file of more than 4 MiB the
// XXH3 of those of its pieces of 4 MiB. They are compared before a file is used: HDF5 is not safe with corrupt files.
#pragma once
#include <string>
#include <vector>

namespace ztp {

// Adds or updates the entries of these files; creates the manifest if there is none. Paths are relative to the run
// directory.
void add_to_manifest(const std::string& run_dir, const std::vector<std::string>& files, unsigned threads = 1);

// Error (input), if the file is not the one in the manifest. `remedy`: what to do then, for the message.
void check_manifest(const std::string& run_dir, const std::string& file, const std::string& remedy = "",
                    unsigned threads = 1);

}  // namespace ztp
