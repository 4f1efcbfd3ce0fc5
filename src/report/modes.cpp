#include "report/sections.hpp"

namespace ztp {

Json modes_section(Source&) {
  return nullptr;
}

}  // namespace ztp
