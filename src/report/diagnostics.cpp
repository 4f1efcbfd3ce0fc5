#include "report/sections.hpp"

namespace ztp {

Json diagnostics_section(Source&) {
  return nullptr;
}

}  // namespace ztp
