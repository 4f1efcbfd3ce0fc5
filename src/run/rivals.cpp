#include "run/rivals.hpp"

#include <fmt/format.h>

#include "ztp/error.hpp"

namespace ztp {
namespace {

RivalModels& registered() {
  static RivalModels models;
  return models;
}

}  // namespace

void register_rivals(const RivalModels& models) {
  registered() = models;
}

const RivalModels& rival_models(const FitOptions& options) {
  if (registered().make_chain == nullptr)
    throw Error(ErrorKind::config,
                fmt::format("--model {}: this build of ztp has no rivals of the model (CMake: ZTP_RIVALS=ON; C++: link "
                            "ztp::rivals and call ztp::add_rivals()); --model ztp is there",
                            name_of(options.model)));
  return registered();
}

void check_rival_data(const FitOptions& options, const Dataset& data) {
  const auto refuse = [&](bool there, const char* what) {
    if (there)
      throw Error(ErrorKind::config,
                  fmt::format("{} not used by --model {}; --model ztp uses them", what, name_of(options.model)));
  };
  refuse(!data.networks.empty(), "networks are");
  for (const auto& slices : data.missing.slices) refuse(!slices.empty(), "missing slices are");
  refuse(data.file != nullptr, "ones that stay in their file are");
}

}  // namespace ztp
