#include "report/sections.hpp"

namespace ztp {

Json components_section(Source&) {
  return nullptr;
}

}  // namespace ztp
