// In the place of the other files of this folder, where the library is built without reports (CMake: ZTP_REPORT=OFF).
#include "ztp/error.hpp"
#include "ztp/report.hpp"

namespace ztp {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorKind::config, "this build of ztp has no reports (CMake: ZTP_REPORT=ON, which needs D3)");
}

}  // namespace

ReportSummary write_report(const std::string&, const std::string&, const ReportOptions&) {
  refuse();
}

ReportSummary write_comparison(const std::string&, const std::string&, const std::string&, const ReportOptions&) {
  refuse();
}

bool is_report(const std::string&) {
  refuse();
}

}  // namespace ztp
