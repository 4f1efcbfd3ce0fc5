#include "base/section_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/errors.hpp"

namespace ztp {
namespace {

constexpr char magic[8] = {'Z', 'T', 'P', 'S', 'E', 'C', 'T', '1'};

struct SectionHead {
  std::uint32_t name_length;
  std::uint32_t zero;
  std::uint64_t payload_length;
};

// The checksum of a section goes over its name and its payload.
Hash begin_checksum(const std::string& name) {
  return Hash(XXH3_64bits(name.data(), name.size()));
}

}  // namespace

SectionWriter::SectionWriter(const std::string& path) : file_(path) {
  file_.write(magic, sizeof magic);
  length_ = sizeof magic;
}

void SectionWriter::section(const std::string& name, const void* data, std::size_t bytes) {
  begin_section(name, bytes);
  if (bytes > 0) add(data, bytes);
  end_section();
}

void SectionWriter::begin_section(const std::string& name, std::uint64_t bytes) {
  std::string filled_up = name;
  while ((length_ + sizeof(SectionHead) + filled_up.size()) % 8 != 0) filled_up += '\0';
  const SectionHead head{static_cast<std::uint32_t>(filled_up.size()), 0, bytes};
  file_.write(&head, sizeof head);
  file_.write(filled_up);
  hash_ = begin_checksum(name);
  length_ += sizeof head + filled_up.size() + bytes + sizeof(std::uint64_t);
}

void SectionWriter::add(const void* data, std::size_t bytes) {
  file_.write(data, bytes);
  hash_.add(data, bytes);
}

void SectionWriter::end_section() {
  const std::uint64_t sum = hash_.sum();
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
    throw input_error("{}: not a ztp file, or written by another version", path);
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
    name.resize(std::strlen(name.c_str()));
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
  throw input_error("{}: damaged: the file {}", file_.path(), what);
}

void SectionReader::read(const std::string& name, void* data, std::size_t bytes) const {
  if (find(name).bytes != bytes) damaged(fmt::format("has a section \"{}\" of the wrong size", name));
  char* to = static_cast<char*>(data);
  read_pieces(name, 1, [&](const char* piece, std::size_t size) { to = std::copy(piece, piece + size, to); });
}

void SectionReader::read_pieces(const std::string& name, std::size_t unit,
                                const std::function<void(const char* data, std::size_t bytes)>& use) const {
  constexpr std::uint64_t usual_piece = 1 << 20;
  const Section& section = find(name);
  Buffer<char> piece(std::min(section.bytes, (usual_piece + unit - 1) / unit * unit));
  Hash hash = begin_checksum(name);
  for (std::uint64_t done = 0; done < section.bytes; done += piece.size()) {
    const std::size_t size = std::min<std::uint64_t>(piece.size(), section.bytes - done);
    file_.read(section.offset + done, piece.data(), size);
    hash.add(piece.data(), size);
    use(piece.data(), size);
  }
  std::uint64_t sum;
  file_.read(section.offset + section.bytes, &sum, sizeof sum);
  if (sum != hash.sum()) damaged(fmt::format("has a wrong checksum in section \"{}\"", name));
}

void SectionReader::verify() const {
  for (const auto& section : sections_) read_pieces(section.first, 1, [](const char*, std::size_t) {});
}

std::string SectionReader::text(const std::string& name) const {
  std::string result(bytes(name), '\0');
  read(name, result.data(), result.size());
  return result;
}

}  // namespace ztp
