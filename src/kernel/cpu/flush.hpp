// While an object of this class lives, subnormal float results of its thread are flushed to zero. Products of factors
// are often that small, do not matter then, and cost a hundred times as much otherwise.
#pragma once
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif
#include <cstdint>

namespace ztp::cpu {

class FlushToZero {
 public:
#if defined(__SSE2__)
  FlushToZero() : before_(_mm_getcsr()) {
    _mm_setcsr(before_ | 0x8000);
  }  // results alone: what is read keeps its value
  ~FlushToZero() {
    _mm_setcsr(before_);
  }

 private:
  unsigned before_;
#elif defined(__aarch64__)
  FlushToZero() {
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    asm volatile("msr fpcr, %0" : : "r"(before_ | (std::uint64_t{1} << 24)));
  }
  ~FlushToZero() {
    asm volatile("msr fpcr, %0" : : "r"(before_));
  }

 private:
  std::uint64_t before_;
#else
  FlushToZero() {}
  ~FlushToZero() {}
#endif
 public:
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;
};

}  // namespace ztp::cpu
