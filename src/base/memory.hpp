// How much memory there is, and how much is in use.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace ztp {

// The memory that this process could use: what it has and what is free, limited by its control group. Its share, if
// several processes of one job are on this machine.
double memory_of_machine();
void share_memory(std::size_t processes);
std::size_t processes_on_machine();  // of this job: as many as share_memory was told
double resident_memory();            // of this process now
// How many bytes this process may load now, given a limit on its memory: half of what it does not use yet, since it
// will need more later, and at least 1/32 of the limit.
double room_within(double limit);
std::uint64_t peak_memory();  // of this process, bytes

std::string human_bytes(double bytes);  // 1.2 GiB

}  // namespace ztp
