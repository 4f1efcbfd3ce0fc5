#include "base/section_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/hash.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr char magic[8] = {'Z', 'T', 'P', 'S', 'E', 'C', 'T', '1'};

struct SectionHead {
  std::uint32_t name_length;
  std::uint32_t zero;
  std::uint64_t payload_length;
};

std::uint64_t checksum(const std::string& name, const void* data, std::size_t bytes) {
  return XXH3_64bits_withSeed(data, bytes, XXH3_64bits(name.data(), name.size()));
}

}  // namespace

SectionWriter::SectionWriter(const std::string& path) : file_(path) {
  file_.write(magic, sizeof magic);
}

void SectionWriter::section(const std::string& name, const void* data, std::size_t bytes) {
  const SectionHead head{static_cast<std::uint32_t>(name.size()), 0, bytes};
  file_.write(&head, sizeof head);
  file_.write(name);
  if (bytes > 0) file_.write(data, bytes);
  const std::uint64_t sum = checksum(name, data, bytes);
  file_.write(&sum, sizeof sum);
}

void SectionWriter::commit() {
  section("end", nullptr, 0);
  file_.commit();
}

SectionReader::SectionReader(const std::string& path) : file_(path) {
  char start[sizeof magic] = {};
  if (file_.length() >= sizeof magic) file_.read(0, start, sizeof start);
  if (std::memcmp(start, magic, sizeof magic) != 0)
    throw Error(ErrorKind::input, fmt::format("{}: not a ztp file, or of another version", path));
  std::uint64_t offset = sizeof magic;
  while (!has("end")) {
    SectionHead head;
    if (file_.length() - offset < sizeof head) damaged("is cut off");
    file_.read(offset, &head, sizeof head);
    offset += sizeof head;
    const std::uint64_t left = file_.length() - offset;
    if (head.name_length > 256 || head.name_length > left || head.payload_length > left - head.name_length ||
        left - head.name_length - head.payload_length < sizeof(std::uint64_t))
      damaged("is cut off");
    std::string name(head.name_length, '\0');
    file_.read(offset, name.data(), name.size());
    offset += name.size();
    if (!sections_.emplace(name, Section{offset, head.payload_length}).second)
      damaged(fmt::format("has two sections \"{}\"", name));
    offset += head.payload_length + sizeof(std::uint64_t);
  }
}

const SectionReader::Section& SectionReader::find(const std::string& name) const {
  const auto found = sections_.find(name);
  if (found == sections_.end()) damaged(fmt::format("has no section \"{}\"", name));
  return found->second;
}

void SectionReader::damaged(const std::string& what) const {
  throw Error(ErrorKind::input, fmt::format("{}: damaged: the file {}", file_.path(), what));
}

void SectionReader::read(const std::string& name, void* data, std::size_t bytes) const {
  const Section& section = find(name);
  if (section.bytes != bytes) damaged(fmt::format("has a section \"{}\" of the wrong size", name));
  if (bytes > 0) file_.read(section.offset, data, bytes);
  std::uint64_t sum;
  file_.read(section.offset + bytes, &sum, sizeof sum);
  if (sum != checksum(name, data, bytes)) damaged(fmt::format("has a wrong checksum in section \"{}\"", name));
}

void SectionReader::verify() const {
  std::uint64_t longest = 1;
  for (const auto& [name, section] : sections_) longest = std::max(longest, section.bytes);
  Buffer<char> buffer(std::min<std::uint64_t>(longest, 1 << 20));
  for (const auto& [name, section] : sections_) {
    Hash hash(XXH3_64bits(name.data(), name.size()));
    for (std::uint64_t done = 0; done < section.bytes; done += buffer.size()) {
      const std::size_t part = std::min<std::uint64_t>(buffer.size(), section.bytes - done);
      file_.read(section.offset + done, buffer.data(), part);
      hash.add(buffer.data(), part);
    }
    std::uint64_t sum;
    file_.read(section.offset + section.bytes, &sum, sizeof sum);
    if (sum != hash.sum()) damaged(fmt::format("has a wrong checksum in section \"{}\"", name));
  }
}

std::string SectionReader::text(const std::string& name) const {
  std::string result(bytes(name), '\0');
  read(name, result.data(), result.size());
  return result;
}

}  // namespace ztp
