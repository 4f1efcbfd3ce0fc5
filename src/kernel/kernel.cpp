#include "kernel/kernel.hpp"

#include <fmt/format.h>

#include "kernel/cpu/cpu_kernel.hpp"
#include "kernel/reference/reference_kernel.hpp"
#include "ztp/error.hpp"

namespace ztp {

std::vector<std::size_t> search_order(std::size_t R) {
  std::vector<std::size_t> order;
  for (std::size_t lane = 0; lane < lanes; ++lane)
    for (std::size_t r = lane; r < R; r += lanes) order.push_back(r);
  return order;
}

std::unique_ptr<Kernel> make_kernel(const std::string& name, Pool& pool) {
  if (name == "cpu") return make_cpu_kernel(pool);
  if (name == "reference") return make_reference_kernel();
  throw Error(ErrorKind::config, fmt::format("unknown kernel \"{}\": use cpu or reference", name));
}

}  // namespace ztp
