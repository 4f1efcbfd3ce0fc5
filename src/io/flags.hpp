// What the words of a flag mean: MODE, MODE=FILE, MODE:N. Flags come as they were typed, for messages.
#pragma once
#include <string>
#include <vector>

#include "ztp/read.hpp"

namespace ztp {

// "user, item, time".
std::string mode_list(const std::vector<Mode>& modes);

// The mode of that name; Error (config) if there is none.
std::size_t mode_of_flag(const std::vector<Mode>& modes, const std::string& name, const std::string& flag);

// "MODE" or "MODE:N", as the network of the data that it names; Error (config), with the remedy, if there is none.
Network& network_of_flag(const std::string& name, const std::string& flag, const std::string& remedy, Dataset& data);
// The same of mode k; number 0: the only one.
Network& network_of_mode(std::size_t k, std::size_t number, const std::string& flag, const std::string& remedy,
                         Dataset& data);

}  // namespace ztp
