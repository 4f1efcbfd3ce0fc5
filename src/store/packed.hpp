// Large factor matrices take half the room in draws.log and draws.nc: their floats are rounded to eight significant
// binary digits, so that two bytes of four are zero. The bytes are those of HDF5's filters `shuffle` and `deflate`,
// which every program that reads HDF5 can undo: the zeros as one long run, the others stored as they are. So packing is
// about as fast as copying, and takes the same room whatever the numbers are.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

namespace ztp {

float rounded_to_pack(float value);
std::size_t packed_bytes(std::size_t floats);
// The first `given` of so many floats; the others are zero.
void pack(const float* values, std::size_t given, std::size_t floats, std::byte* packed);
// Some of so many floats, from packed bytes of which `read` copies a part: as few as are needed. False, if there are
// not as many bytes as pack() makes of so many floats.
using ReadPart = std::function<void(std::uint64_t offset, void* bytes, std::size_t count)>;
bool unpack_part(const ReadPart& read, std::uint64_t bytes, std::size_t floats, std::size_t first, std::size_t count,
                 float* values);
// The first `wanted` of so many floats. False, if these bytes were not packed by pack().
bool unpack(const std::byte* packed, std::size_t bytes, std::size_t floats, std::size_t wanted, float* values);

}  // namespace ztp
