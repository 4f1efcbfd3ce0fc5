// Options on their way through options.json, and what has no effect without another: the command line refuses the same
// (tests/bad_inputs).
#include "ztp/options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "errors.hpp"
#include "ztp/option_fields.hpp"

namespace ztp {
namespace {

TEST(Options, RoundTripThroughJson) {
  // Each option gets a value that is allowed and not its default; a seed, one that a double does not hold.
  FitOptions options;
  const auto change = [&](const OptionField& field, auto& value) {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, std::uint64_t>) value = 18446744073709551615ull;
    if constexpr (std::is_same_v<Value, std::int64_t>) value = static_cast<std::int64_t>(field.range.smallest) + 1;
    if constexpr (std::is_same_v<Value, double>)
      value = field.range.smallest + 0.1 * (field.range.largest - field.range.smallest);
    if constexpr (std::is_same_v<Value, std::string>) value = "\"x\"";
    if constexpr (std::is_enum_v<Value>)
      field.choose(options, field.choices()[field.text({}) == field.choices()[0] ? 1 : 0]);
    if constexpr (std::is_same_v<Value, std::vector<std::string>>) value = {"0.2", "user=0.01"};
  };
  const FitOptions defaults;
  for (const OptionField& field : fit_option_fields())
    std::visit([&](auto member) { change(field, options.*member); }, field.member);
  const FitOptions back = options_from_json(options_to_json(options));
  for (const OptionField& field : fit_option_fields())
    std::visit(
        [&](auto member) {
          EXPECT_EQ(back.*member, options.*member) << field.name;
          EXPECT_NE(back.*member, defaults.*member) << field.name << ": the test does not change it";
        },
        field.member);
}

// The library says so itself, to whoever calls it.
TEST(Options, WithoutEffectIsAnError) {
  const auto message = [](void (*change)(FitOptions&), bool networks = true) {
    FitOptions options;
    change(options);
    return test::error_of([&] { check_options(options, networks); }, ErrorKind::usage);
  };
  EXPECT_EQ(message([](FitOptions& o) { o.kappa = 0.9; }), "--kappa has no effect without --method online");
  EXPECT_EQ(message([](FitOptions& o) { o.zeros_per_one = 3; }), "--zeros-per-one has no effect without --holdout");
  EXPECT_EQ(message([](FitOptions& o) { o.model = Model::quad, o.kappa = 1; }),
            "--kappa is not used by --model quad, only by --model ztp");
  const auto of_network = [](FitOptions& o) { o.network_gamma_shape = 1; };
  EXPECT_EQ(message(of_network, false), "--network-gamma-shape has no effect without --network");
  FitOptions options;
  of_network(options);
  EXPECT_NO_THROW(check_options(options));
}

}  // namespace
}  // namespace ztp
