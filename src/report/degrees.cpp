#include "report/sections.hpp"

namespace ztp {

Json degrees_section(Source&) {
  return nullptr;
}

}  // namespace ztp
