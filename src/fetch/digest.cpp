#include "fetch/digest.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include "ztp/error.hpp"

namespace ztp {
namespace {

std::string digest(const EVP_MD* kind, std::string_view bytes) {
  unsigned char sum[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  // MD5 may be switched off by the system's policy.
  if (kind == nullptr || EVP_Digest(bytes.data(), bytes.size(), sum, &size, kind, nullptr) != 1)
    throw Error(ErrorKind::io, "a checksum cannot be computed: libcrypto refuses it");
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", sum[i]);
  return text;
}

}  // namespace

std::string md5_of(std::string_view bytes) {
  return digest(EVP_md5(), bytes);
}

std::string sha256_of(std::string_view bytes) {
  return digest(EVP_sha256(), bytes);
}

}  // namespace ztp
