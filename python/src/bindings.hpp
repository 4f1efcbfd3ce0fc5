// What the parts of the Python module share: conversion of arrays and callables for the library, and of its errors to
// exceptions.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ztp/ztp.hpp"

namespace ztp::python {

namespace nb = nanobind;

// Any array in the memory of this process, of any type of numbers.
using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;
// For the stubs: what is in Python's lists and dictionaries.
using Dict = nb::typed<nb::dict, nb::str, nb::any>;
using Dicts = nb::typed<nb::list, Dict>;
using Texts = nb::typed<nb::list, nb::str>;
template <class T>
using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Ids of entities, rows x columns: the only copy of the coordinates. Functions that take it leave it empty.
class Ids {
 public:
  Ids(std::size_t rows, std::size_t columns);
  // From a two-dimensional array of whole numbers, of any type. Returns the largest of each column, plus one. Error
  // (usage) that names the row for a negative, fractional or too large one; `what` and `columns` are for the message.
  std::vector<std::uint64_t> fill(const AnyArray& array, const std::string& what,
                                  const std::vector<std::string>& columns);
  // The same for one column, from a one-dimensional array.
  std::uint64_t fill_column(std::size_t column, const AnyArray& array, const std::string& what,
                            const std::string& name);

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  const std::uint32_t* data() const { return values_.data(); }
  Buffer<std::uint32_t> take();  // leaves no rows

 private:
  std::size_t rows_, columns_;
  Buffer<std::uint32_t> values_;
};

// An array of Python that owns its values.
template <class T, class Container>
nb::ndarray<nb::numpy, T> owned_array(Container&& values, const std::vector<std::size_t>& shape) {
  auto* kept = new std::decay_t<Container>(std::forward<Container>(values));
  nb::capsule owner(kept, [](void* pointer) noexcept { delete static_cast<std::decay_t<Container>*>(pointer); });
  return nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner);
}

// run() without Python's lock.
template <class Run>
auto without_lock(const Run& run) {
  nb::gil_scoped_release released;
  return run();
}

// Raises KeyboardInterrupt, if Ctrl-C was typed. Needs Python's lock.
inline void check_signals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

inline std::vector<std::string> mode_names(const std::vector<Mode>& modes) {
  std::vector<std::string> names;
  for (const Mode& mode : modes) names.push_back(mode.name);
  return names;
}

// Messages name options as the command line spells them; in Python --burn-in is burn_in.
std::string in_python_terms(const std::string& message);

void bind_errors(nb::module_& module);
void bind_data(nb::module_& module);
void bind_fit(nb::module_& module);
void bind_posterior(nb::module_& module);

}  // namespace ztp::python
