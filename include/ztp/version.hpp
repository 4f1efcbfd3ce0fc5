#pragma once

namespace ztp {
const char* version();
}
