// Names of modes, and flags that name a mode or network: MODE, MODE=FILE, MODE:N. `flag`: as typed, for messages.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ztp/read.hpp"

namespace ztp {

// "user, item, time".
std::string mode_list(const std::vector<Mode>& modes);

// The mode of that name; Error (config) if there is none.
std::size_t mode_of_flag(const std::vector<Mode>& modes, const std::string& name, const std::string& flag);

// What is wrong with the name of a mode that follows others, and what to do; empty if nothing is.
std::string mode_name_problem(std::string_view name, const std::vector<std::string>& before);

// The network that "MODE" or "MODE:N" names. Error (config) with `remedy`, if there is none.
Network& network_of_flag(const std::string& name, const std::string& flag, const std::string& remedy, Dataset& data);
// The same for mode k; number 0: its only network.
Network& network_of_mode(std::size_t k, std::size_t number, const std::string& flag, const std::string& remedy,
                         Dataset& data);

}  // namespace ztp
