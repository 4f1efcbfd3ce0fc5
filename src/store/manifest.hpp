// manifest.json: the length and the XXH3 of those files of a run that are not checked by a format of their own. They are compared before a
// file is used: HDF5 is not made for files that somebody else has changed.
#pragma once
#include <string>
#include <vector>

namespace ztp {

// Adds these files, or what they are now, to the manifest, which is made if there is none. Paths are relative to the run directory.
void add_to_manifest(const std::string& run_dir, const std::vector<std::string>& files);

// Error (input), if the file is not the one in the manifest. `remedy`: what to do then, for the message.
void check_manifest(const std::string& run_dir, const std::string& file, const std::string& remedy = "");

}  // namespace ztp
