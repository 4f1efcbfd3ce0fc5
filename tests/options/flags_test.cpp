// Every option of every command refuses what is just outside of its range, what is no number and what is no choice. The
// cases come from the lists of options: that of a fit, and the help of the other commands, which has their ranges.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "program.hpp"
#include "ztp/option_fields.hpp"

namespace ztp {
namespace {

using test::Answer;
using test::run_program;

constexpr const char* more = "\nRun with --help for more information.\n";

// ---- fit ------------------------------------------------------------------------------------------------------------

// There is no such file: options are refused before it is looked for.
Answer fit_with(const std::string& options) {
  return run_program("fit nowhere/ones.tsv --out nowhere/run " + options);
}

void expect_refused(const OptionField& field, const std::string& value, int code, const std::string& message) {
  const std::string model = field.models.empty() ? "" : "--model " + name_of(field.models.front());
  const Answer answer = fit_with(fmt::format("{} {} {}", model, field.flag(), value));
  EXPECT_EQ(answer.code, code) << field.flag() << ' ' << value;
  EXPECT_EQ(answer.text, message) << field.flag() << ' ' << value;
}

template <class Value>
constexpr bool holds(const OptionField& field) {
  return std::holds_alternative<Value FitOptions::*>(field.member);
}

TEST(FitFlags, RefuseWhatIsOutsideOfTheirRange) {
  int numbers = 0;
  for (const OptionField& field : fit_option_fields()) {
    std::vector<std::string> outside;
    if (holds<std::int64_t>(field))
      outside = {fmt::format("{:.0f}", field.range.smallest - 1), fmt::format("{:.0f}", field.range.largest + 1)};
    if (holds<double>(field))
      outside = {fmt::format("{}", std::nextafter(field.range.smallest, -1)),
                 fmt::format("{}", std::nextafter(field.range.largest, 1e300)), "nan", "inf", "-inf"};
    for (const std::string& value : outside)
      expect_refused(field, value, 4,
                     fmt::format("ztp: {} {}: must be between {} and {}\n", field.flag(), value, field.range.smallest,
                                 field.range.largest));
    numbers += outside.empty() ? 0 : 1;
  }
  EXPECT_GT(numbers, 20);
}

TEST(FitFlags, RefuseWhatIsNoNumberAndNoChoice) {
  for (const OptionField& field : fit_option_fields()) {
    const std::string flag = field.flag();
    if (holds<std::int64_t>(field) || holds<std::uint64_t>(field))
      for (const char* value : {"ten", "2.5"})
        expect_refused(field, value, 2,
                       fmt::format("{}: \"{}\" is not an integer{}{}", flag, value,
                                   field.name == "rank" ? ", nor auto" : "", more));
    if (holds<std::uint64_t>(field))
      for (const char* value : {"-1", "18446744073709551616"})
        expect_refused(field, value, 2,
                       fmt::format("{}: \"{}\" is not an integer from 0 to {}{}", flag, value,
                                   std::numeric_limits<std::uint64_t>::max(), more));
    if (holds<double>(field)) expect_refused(field, "ten", 2, fmt::format("Could not convert: {} = ten{}", flag, more));
    if (!field.choices().empty())
      expect_refused(field, "nonsense", 4,
                     fmt::format("ztp: {} nonsense: must be one of: {}\n", flag, fmt::join(field.choices(), ", ")));
  }
}

// Even where the value is that of the default.
TEST(FitFlags, RefuseWhatHasNoEffect) {
  const auto expect_no_use = [](const std::string& options, const std::string& message) {
    const Answer answer = fit_with(options);
    EXPECT_EQ(answer.code, 2) << options;
    EXPECT_EQ(answer.text, message) << options;
  };
  for (const OptionField& field : fit_option_fields()) {
    const bool number = holds<double>(field) || holds<std::int64_t>(field);
    const std::string value = number ? fmt::format("{}", field.range.largest) : field.text({});
    const std::string given = fmt::format("{} {}", field.flag(), value.empty() ? "x" : value);
    std::vector<std::string> users;
    for (const Model user : field.models) users.push_back(name_of(user));
    for (const Model model : {Model::ztp, Model::logistic, Model::quad, Model::pwquad})
      if (!field.used_by(model))
        expect_no_use(fmt::format("--model {} {}", name_of(model), given),
                      fmt::format("ztp: {} is not used by --model {}, only by --model {}\n", field.flag(),
                                  name_of(model), fmt::join(users, "|")));
    const std::map<Need, const char*> needed = {{Need::holdout, "--holdout"},
                                                {Need::test_cells, "--holdout or --test"},
                                                {Need::online, "--method online"},
                                                {Need::network, "--network"},
                                                {Need::converged, "--until converged"}};
    if (field.needs != Need::nothing)
      expect_no_use(given, fmt::format("ztp: {} has no effect without {}\n", field.flag(), needed.at(field.needs)));
  }
}

// ---- the other commands ---------------------------------------------------------------------------------------------

std::vector<std::string> commands() {
  std::istringstream help(run_program("--help").text);
  std::vector<std::string> names;
  bool listed = false;
  for (std::string line; std::getline(help, line);) {
    if (line.starts_with("Subcommands:"))
      listed = true;
    else if (line.empty())
      listed = false;
    else if (listed && line.starts_with("  ") && line[2] != ' ')
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

// "--rank INT:INT in [1 - 100000]=20": what is before, between and after the marks.
struct Flag {
  std::string name, smallest, largest;  // numbers
  std::string choices;                  // "{binary,count}"
};

std::vector<Flag> flags_of(const std::string& command) {
  std::istringstream help(run_program(command + " --help").text);
  std::vector<Flag> flags;
  for (std::string line; std::getline(help, line);) {
    const std::size_t begin = line.find("--"), range = line.find(" in ["), choice = line.find(":{");
    if (begin == line.npos || begin > 6) continue;
    Flag flag{line.substr(begin, line.find_first_of(" ,", begin) - begin), {}, {}, {}};
    if (range != line.npos) {
      const std::size_t dash = line.find(" - ", range), end = line.find(']', range);
      flag.smallest = line.substr(range + 5, dash - range - 5);
      flag.largest = line.substr(dash + 3, end - dash - 3);
    } else if (choice != line.npos) {
      flag.choices = line.substr(choice + 1, line.find('}', choice) - choice);
    } else {
      continue;
    }
    flags.push_back(flag);
  }
  return flags;
}

TEST(Flags, RefuseWhatIsOutsideOfTheirRange) {
  int ranges = 0, choices = 0;
  for (const std::string& command : commands())
    for (const Flag& flag : flags_of(command)) {
      std::vector<std::string> outside;
      if (!flag.choices.empty()) {
        outside = {"nonsense"};
        ++choices;
      } else if (flag.largest.find('.') != std::string::npos) {
        outside = {fmt::format("{}", std::nextafter(std::stod(flag.smallest), -1)),
                   fmt::format("{}", std::nextafter(std::stod(flag.largest), 1e300)), "ten"};
        ++ranges;
      } else {
        outside = {std::to_string(std::stoll(flag.smallest) - 1), std::to_string(std::stoll(flag.largest) + 1), "ten"};
        ++ranges;
      }
      for (const std::string& value : outside) {
        const Answer answer = run_program(fmt::format("{} {} {}", command, flag.name, value));
        const std::string what = fmt::format("ztp {} {} {}", command, flag.name, value);
        EXPECT_EQ(answer.code, 2) << what;
        if (!flag.choices.empty())
          EXPECT_EQ(answer.text, fmt::format("{}: nonsense not in {}{}", flag.name, flag.choices, more)) << what;
        else
          EXPECT_TRUE(
              answer.text.starts_with(fmt::format("{}: Value {} not in range {}", flag.name, value, flag.smallest)))
              << what << ": " << answer.text;
      }
    }
  EXPECT_GT(ranges, 30);
  EXPECT_GT(choices, 10);
}

}  // namespace
}  // namespace ztp
