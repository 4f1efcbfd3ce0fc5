// Data: from arrays and files to a Dataset.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace ztp::python {
namespace {

LabelTable table_of(const Texts& names) {
  LabelTable table;
  for (const nb::handle name : names) {
    const std::uint32_t before = table.size();
    const auto text = nb::cast<std::string_view>(name);
    table.add(text);
    if (table.size() == before) throw Error(ErrorKind::usage, fmt::format("the label \"{}\" is listed twice", text));
  }
  return table;
}

// -1 where there is no such label.
nb::ndarray<nb::numpy, std::int64_t> find(const LabelTable& table, const Texts& names) {
  std::vector<std::int64_t> ids;
  ids.reserve(names.size());
  for (const nb::handle name : names) {
    const auto id = table.find(nb::cast<std::string_view>(name));
    ids.push_back(id ? std::int64_t{*id} : -1);
  }
  const std::size_t count = ids.size();
  return owned_array<std::int64_t>(std::move(ids), {count});
}

Texts names_of(const LabelTable& table) {
  Texts names;
  std::string scratch;
  for (std::uint32_t id = 0; id < table.size(); ++id) names.append(nb::cast(table.name(id, scratch)));
  return names;
}

void bind_labels(nb::module_& module) {
  nb::class_<LabelTable>(module, "Labels", "The entities of a mode: names to ids and back.")
      .def(
          "__init__", [](LabelTable* self, const Texts& names) { new (self) LabelTable(table_of(names)); },
          nb::arg("names"))
      .def_static("numbered", &LabelTable::numbered, nb::arg("first"), nb::arg("size"))
      .def("copy", [](const LabelTable& table) { return LabelTable(table); })
      .def("__len__", &LabelTable::size)
      .def_prop_ro("is_numbered", &LabelTable::is_numbered)
      .def_prop_ro("first_number", &LabelTable::first_number)
      .def(
          "name", [](const LabelTable& table, std::uint32_t id) { return table[id]; }, nb::arg("id"))
      .def("names", &names_of, "All names, by id.")
      .def("find", &find, nb::arg("names"), "The id of each name, -1 where there is none.")
      .def(
          "add",
          [](LabelTable& table, const Texts& names) {
            for (const nb::handle name : names) table.add(nb::cast<std::string_view>(name));
          },
          nb::arg("names"));
}

void bind_arrays(nb::module_& module) {
  nb::class_<Arrays>(module, "Arrays", "Cells, networks and what is missing, before they are sorted and checked.")
      .def(
          "__init__", [](Arrays* self, std::string source) { (new (self) Arrays)->source = std::move(source); },
          nb::arg("source"))
      .def(
          "add_mode",
          [](Arrays& self, std::string name, const LabelTable& labels) {
            self.modes.push_back({std::move(name), labels});
          },
          nb::arg("name"), nb::arg("labels"))
      .def(
          "set_cells", [](Arrays& self, Ids& ids) { self.coords = ids.take(); }, nb::arg("ids"))
      .def(
          "set_values",
          [](Arrays& self, const Array1<std::int64_t>& values) {
            self.values.resize(0);
            self.values.append(values.data(), values.size());
          },
          nb::arg("values"))
      .def(
          "set_missing", [](Arrays& self, Ids& ids) { self.missing = ids.take(); }, nb::arg("ids"))
      .def(
          "set_missing_slices",
          [](Arrays& self, std::vector<std::vector<std::uint32_t>> slices) { self.missing_slices = std::move(slices); },
          nb::arg("slices"))
      .def(
          "add_network",
          [](Arrays& self, std::size_t mode, std::size_t which, std::string source, Ids& pairs, Ids* missing) {
            Arrays::Edges& edges = self.networks.emplace_back();
            edges.mode = mode;
            edges.which = which;
            edges.source = std::move(source);
            edges.pairs = pairs.take();
            if (missing != nullptr) edges.missing = missing->take();
          },
          nb::arg("mode"), nb::arg("which"), nb::arg("source"), nb::arg("pairs"), nb::arg("missing").none());
}

// Nothing for an empty name: the format is recognised.
std::optional<FileFormat> file_format(const std::string& name) {
  if (name.empty()) return std::nullopt;
  return format_named(name);
}

void set_read_option(ReadOptions& read, const std::string& name, nb::handle value) {
  if (name == "file")
    read.file = nb::cast<std::string>(value);
  else if (name == "format")
    read.format = file_format(nb::cast<std::string>(value));
  else if (name == "header")
    read.header = value.is_none() ? std::nullopt : std::optional<bool>(nb::cast<bool>(value));
  else if (name == "values")
    read.values = nb::cast<bool>(value);
  else if (name == "index_base")
    read.index_base = nb::cast<int>(value);
  else if (name == "labels")
    read.labels = nb::cast<std::vector<std::string>>(value);
  else if (name == "network")
    read.networks = nb::cast<std::vector<std::string>>(value);
  else if (name == "missing")
    read.missing = nb::cast<std::string>(value);
  else if (name == "missing_slices")
    read.missing_slices = nb::cast<std::vector<std::string>>(value);
  else if (name == "missing_pairs")
    read.missing_pairs = nb::cast<std::vector<std::string>>(value);
  else
    throw Error(ErrorKind::usage, fmt::format("there is no option {} of reading", name));
}

ReadOptions read_options(const Dict& given) {
  ReadOptions read;
  for (const auto& [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    try {
      set_read_option(read, name, value);
    } catch (const nb::cast_error&) {
      throw Error(ErrorKind::usage, fmt::format("{} has the wrong type", name));
    }
  }
  return read;
}

nb::ndarray<nb::numpy, std::uint32_t> copy_of(const Buffer<std::uint32_t>& values, std::size_t columns) {
  const std::vector<std::uint32_t> copy(values.begin(), values.end());
  return owned_array<std::uint32_t>(copy, {copy.size() / columns, columns});
}

Dict split_data(const Dataset& data, const std::string& protocol, double holdout, std::uint64_t zeros_per_one,
                const std::string& mode, std::uint32_t after, std::uint64_t seed) {
  SplitOptions options;
  options.protocol = protocol_named(protocol);
  options.holdout = holdout;
  options.zeros_per_one = zeros_per_one;
  options.mode = mode;
  options.after = after;
  options.seed = seed;
  Split parts = without_lock([&] { return split(data.tensor, options, data.missing); });
  const std::size_t K = data.tensor.order();
  Dict result;
  const std::size_t ones = parts.coords.size() / K, cells = parts.test.size();
  result["train"] = owned_array<std::uint32_t>(std::move(parts.coords), {ones, K});
  if (parts.counts.empty())
    result["train_y"] = nb::none();
  else
    result["train_y"] = owned_array<std::int64_t>(std::move(parts.counts), {ones});
  result["test"] = owned_array<std::uint32_t>(std::move(parts.test.coords), {cells, K});
  result["test_y"] = owned_array<std::uint8_t>(std::move(parts.test.outcome), {cells});
  return result;
}

void bind_dataset(nb::module_& module) {
  nb::class_<Dataset>(module, "Data", "What a fit is of. A fit takes it, and leaves it empty.")
      .def_prop_ro("ones", &Dataset::ones)
      .def_prop_ro("warnings", [](const Dataset& data) { return data.warnings; })
      .def_prop_ro("notes", [](const Dataset& data) { return data.notes; })
      .def_prop_ro("shape", [](const Dataset& data) { return data.tensor.sizes(); })
      .def_prop_ro("mode_names", [](const Dataset& data) { return mode_names(data.tensor.modes); })
      .def(
          "labels",
          [](const Dataset& data, std::size_t mode) {
            LabelTable table = data.tensor.modes.at(mode).labels;
            table.index();
            return table;
          },
          nb::arg("mode"))
      .def("cells", [](const Dataset& data) { return copy_of(data.tensor.coords, data.tensor.order()); })
      .def("split", &split_data, nb::arg("protocol"), nb::arg("holdout"), nb::arg("zeros_per_one"), nb::arg("mode"),
           nb::arg("after"), nb::arg("seed"));
  module.def(
      "make_data", [](Arrays& arrays, bool counts) { return make_dataset(std::move(arrays), counts); },
      nb::arg("arrays"), nb::arg("counts"), nb::call_guard<nb::gil_scoped_release>());
  module.def(
      "read_data",
      [](const Dict& given, const std::string& options_json) {
        const ReadOptions read = read_options(given);
        const FitOptions options = options_from_json(options_json);
        return without_lock([&] { return read_dataset(read, options); });
      },
      nb::arg("given"), nb::arg("options"));
}

Dict simulate_data(const SimulateOptions& options) {
  Simulated made = without_lock([&] { return simulate(options); });
  const std::size_t K = made.tensor.order(), ones = made.tensor.nnz(), R = made.lambda.size();
  Dict result;
  result["cells"] = owned_array<std::uint32_t>(std::move(made.tensor.coords), {ones, K});
  result["weights"] = owned_array<double>(std::move(made.lambda), {R});
  nb::list networks, factors;
  for (Network& network : made.networks) networks.append(nb::make_tuple(network.mode, copy_of(network.edges, 2)));
  result["networks"] = networks;
  for (std::size_t k = 0; k < K; ++k) {
    const std::size_t n = options.dims[k];
    std::vector<double> u(n * R, 0.0);
    for (std::size_t r = 0; r < R; ++r) {
      const TrueFactorColumn column = true_factor_column(options, k, r);
      for (std::size_t i = 0; i < column.ids.size(); ++i) u[column.ids[i] * R + r] = column.u[i];
    }
    factors.append(owned_array<double>(std::move(u), {n, R}));
  }
  result["factors"] = factors;
  return result;
}

}  // namespace

void bind_data(nb::module_& module) {
  nb::class_<Ids>(module, "Ids", "Ids of entities, rows x columns.")
      .def(nb::init<std::size_t, std::size_t>(), nb::arg("rows"), nb::arg("columns"))
      .def("fill", &Ids::fill, nb::arg("array"), nb::arg("what"), nb::arg("columns"),
           nb::sig("def fill(self, array: numpy.typing.NDArray[typing.Any], what: str, "
                   "columns: collections.abc.Sequence[str]) -> list[int]"),
           "From a two-dimensional array of whole numbers. Returns the largest of each column, plus one.",
           nb::call_guard<nb::gil_scoped_release>())
      .def("fill_column", &Ids::fill_column, nb::arg("column"), nb::arg("array"), nb::arg("what"), nb::arg("name"),
           nb::sig("def fill_column(self, column: int, array: numpy.typing.NDArray[typing.Any], what: str, "
                   "name: str) -> int"))
      .def_prop_ro("rows", &Ids::rows)
      .def_prop_ro("columns", &Ids::columns);
  bind_labels(module);
  bind_arrays(module);
  bind_dataset(module);
  module.def(
      "simulate",
      [](std::vector<std::uint64_t> dims, std::uint64_t ones, std::size_t rank, std::uint64_t seed,
         const std::string& kind, double dirichlet, std::vector<std::pair<std::string, std::uint64_t>> edges) {
        SimulateOptions options;
        options.dims = std::move(dims);
        options.ones = ones;
        options.rank = rank;
        options.seed = seed;
        options.kind = simulate_kind_named(kind);
        options.dirichlet = dirichlet;
        options.edges = std::move(edges);
        return simulate_data(options);
      },
      nb::arg("dims"), nb::arg("ones"), nb::arg("rank"), nb::arg("seed"), nb::arg("kind"), nb::arg("dirichlet"),
      nb::arg("edges"));
}

}  // namespace ztp::python
