// The parts of the suite and what they share. Each part is a function in the file of its name.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "measure.hpp"
#include "report.hpp"
#include "ztp/tensor.hpp"

namespace ztp::bench {

struct Options {
  bool quick = false;               // small shapes and short repeats: does it work, not how fast is it
  unsigned threads = 1;             // most to use
  std::string data;                 // directory of data sets; empty: none
  std::string tensor;               // one's own, in place of those of the suite
  std::string json = "bench.json";  // written at the end
  std::vector<std::string> only;    // parts; empty: all
};

// A tensor to be timed. Wanted figures are of these by name.
struct Subject {
  std::string name;
  SparseTensor tensor;
  bool of_suite() const;  // and no one's own, nor that of a quick run
};
inline const std::string facebook_shape = "facebook shape", scholars = "scholars";
inline bool Subject::of_suite() const {
  return name == facebook_shape || name == scholars;
}

// dims, ones and rank as `ztp simulate` takes them, seed 1.
SparseTensor simulated(std::vector<std::uint64_t> dims, std::uint64_t ones, std::size_t rank);

struct Suite {
  Options options;
  Report report;

  explicit Suite(Options given) : options(std::move(given)) {}

  Effort effort() const { return options.quick ? Effort{5, 0.005} : Effort{7, 0.1}; }
  // The tensors of whole sweeps: the Facebook shape, and Scholars where there is a directory of data; or the one given;
  // or something small. Made or read at the first call. The report says what is left out.
  const std::vector<Subject>& subjects();
  const Subject& first_subject();                   // never Scholars
  std::vector<unsigned> thread_counts() const;      // 1, 2, 4, ... and the most
  std::vector<unsigned> few_thread_counts() const;  // 2 and the most

 private:
  void make_subjects();

  std::vector<Subject> subjects_;
  std::string no_scholars_;  // why not, if not
};

void bench_gamma(Suite& suite);         // gamma draws, against those of the standard library
void bench_allocate(Suite& suite);      // the allocation step, against its two limits
void bench_sweep(Suite& suite);         // whole sweeps: time, memory, the distance to the copy bandwidth
void bench_cuda(Suite& suite);          // the same on a GPU
void bench_cuda_answers(Suite& suite);  // rates of cells and rankings there; part of the one before
void bench_rank(Suite& suite);          // sweeps against R
void bench_threads(Suite& suite);       // sweeps against threads
void bench_scaling(Suite& suite);       // sweeps of simulated tensors against ones, R and K
void bench_score(Suite& suite);         // rates of cells, as predictions need them
void bench_bandwidth(Suite& suite);     // copying memory

}  // namespace ztp::bench
