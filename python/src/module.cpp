#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cctype>
#include <map>
#include <new>

#include "bindings.hpp"

namespace ztp::python {

std::string in_python_terms(const std::string& message) {
  static const std::map<std::string, std::string> names = {
      {"seed", "random_state"}, {"threads", "n_jobs"}, {"force", "force=True"}};
  std::string result;
  for (std::size_t i = 0; i < message.size();) {
    const bool begins = i == 0 || std::isalnum(static_cast<unsigned char>(message[i - 1])) == 0;
    if (!begins || message.compare(i, 2, "--") != 0 || i + 2 >= message.size() ||
        std::islower(static_cast<unsigned char>(message[i + 2])) == 0) {
      result += message[i++];
      continue;
    }
    std::string name;
    for (i += 2; i < message.size(); ++i) {
      const char c = message[i];
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') break;
      name += c == '-' ? '_' : c;
    }
    const auto renamed = names.find(name);
    result += renamed == names.end() ? name : renamed->second;
  }
  return result;
}

namespace {

PyObject* exception_for(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
    case ErrorKind::input:
    case ErrorKind::config:
      return PyExc_ValueError;
    case ErrorKind::numeric:
      return PyExc_ArithmeticError;
    case ErrorKind::io:
      return PyExc_OSError;
  }
  return PyExc_RuntimeError;
}

Dict as_dict(const OptionField& field) {
  static const FitOptions defaults;
  Dict dict;
  dict["name"] = field.name;
  dict["help"] = field.help;
  dict["choices"] = field.choices();
  dict["default_text"] = field.default_text;
  const auto set_default = [&]<class Value>(Value FitOptions::*member) {
    if constexpr (std::is_enum_v<Value>)
      dict["default"] = name_of(defaults.*member);
    else
      dict["default"] = defaults.*member;
  };
  std::visit(set_default, field.member);
  return dict;
}

}  // namespace

void bind_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Error& error) {
      PyErr_SetString(exception_for(error.kind()), in_python_terms(error.what()).c_str());
    }
  });
}

}  // namespace ztp::python

NB_MODULE(_core, module) {
  using namespace ztp::python;
  module.doc() = "The C++ library of ztp, as the package ztp calls it. Not a public interface.";
  module.attr("version") = ztp::version();
#ifdef NDEBUG
  nb::set_leak_warnings(false);  // objects that are alive when Python ends are no concern of users
#endif
  bind_errors(module);
#ifdef ZTP_RIVALS
  ztp::add_rivals();
#endif
  module.def(
      "option_fields",
      [] {
        Dicts list;
        for (const ztp::OptionField& field : ztp::fit_option_fields()) list.append(as_dict(field));
        return list;
      },
      "The options of a fit: name, help, default, choices.");
  bind_data(module);
  bind_fit(module);
  bind_posterior(module);
}
