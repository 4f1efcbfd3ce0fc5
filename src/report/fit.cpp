#include "report/sections.hpp"

namespace ztp {

Json fit_section(Source&) {
  return nullptr;
}

}  // namespace ztp
