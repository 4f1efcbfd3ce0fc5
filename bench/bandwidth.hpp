// How fast the machine copies memory: the limit of anything that reads and writes more than its caches hold.
#pragma once
#include "base/pool.hpp"
#include "ztp/buffer.hpp"

namespace ztp::bench {

class Copy {
 public:
  // Two arrays of four times the last cache, within reason; small ones in a quick run.
  Copy(Pool& pool, bool quick);
  void run();
  double bytes_moved() const { return 2 * static_cast<double>(from_.size()); }  // read and written

 private:
  Pool& pool_;
  Buffer<char> from_;
  Buffer<char> to_;
};

}  // namespace ztp::bench
