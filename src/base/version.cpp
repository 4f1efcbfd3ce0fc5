#include "ztp/version.hpp"

namespace ztp {
const char* version() {
  return ZTP_VERSION;
}
}  // namespace ztp
