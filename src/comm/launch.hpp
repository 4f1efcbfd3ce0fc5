// What the environment tells of the launcher that started this process.
#pragma once
#include <cstddef>

namespace ztp {

struct Launch {
  bool by_launcher = false;
  std::size_t size = 0;        // of the job; 0: not known
  std::size_t local_rank = 0;  // among the processes of the job on this machine; 0 also if it is not known
};

Launch read_launch();

}  // namespace ztp
