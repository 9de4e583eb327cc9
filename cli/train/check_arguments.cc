#include "cli/train/check_arguments.h"

#include <algorithm>
#include <deque>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/support/options.h"
#include "comm/errors.h"
#include "comm/whole_number.h"

namespace rankbox::cli {

namespace {

using Words = std::vector<std::string>;

// Numbers are checked without their ranges, which the program knows and names.

std::string expect_whole_number(const std::string& text) {
  return parse_whole_number(text) ? "" : fmt::format("'{}': expects a whole number", text);
}

std::string expect_number(const std::string& text) {
  double value = 0;
  return CLI::detail::lexical_cast(text, value) ? "" : fmt::format("'{}': expects a number", text);
}

/// Adds the option that a line of the help describes: "  --ranks INT=1  number of ranks".
/// @param value gets what is typed
void add_option_of(const std::string& line, CLI::App& app, std::string& value) {
  std::istringstream words(line);
  std::string name;
  words >> name;
  const std::string rest = line.substr(line.find(name) + name.size());
  const bool is_flag = rest.starts_with("  ") || rest.empty();
  if (is_flag) {
    app.add_flag(name);
    return;
  }
  CLI::Option* const option = app.add_option(name, value);
  std::string type;
  words >> type;
  if (type.starts_with("INT")) option->check(expect_whole_number, "");
  if (type.starts_with("NUMBER")) option->check(expect_number, "");
  const bool may_be_empty = line.find("(if nothing follows)") != std::string::npos;
  may_be_empty ? option->expected(0, 1) : option->expected(1);
}

/// Returns the first words of the lines below a heading.
Words names_below(const std::string& heading, std::string_view help) {
  std::istringstream lines{std::string(help)};
  Words names;
  bool is_below = false;
  for (std::string line; std::getline(lines, line);) {
    if (is_below && !line.starts_with("  ")) break;
    if (is_below) names.push_back(line.substr(2, line.find(' ', 2) - 2));
    is_below = is_below || line == heading;
  }
  return names;
}

void check_name(const std::string& typed, const char* what, const Words& names) {
  if (typed.empty() || std::ranges::count(names, typed) > 0) return;
  throw InvalidArgument(fmt::format("--{0} {1}: there is no such {0}, only {2}", what, typed,
                                    fmt::join(names, ", ")));
}

}  // namespace

void check_train_arguments(const Words& arguments, std::string_view help) {
  CLI::App app("", "rankbox train");
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  std::deque<std::string> values;  // options refer to them
  std::istringstream lines{std::string(help)};
  for (std::string line; std::getline(lines, line) && line != "Models:";) {
    if (line.starts_with("  --")) add_option_of(line, app, values.emplace_back());
  }

  Words all = {"train"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  parse_arguments(app, all, "./rankbox train --help");
  const auto typed = [&](const char* option) {
    return app.count(option) == 0 ? "" : app.get_option(option)->as<std::string>();
  };
  check_name(typed("--model"), "model", names_below("Models:", help));
  check_name(typed("--strategy"), "strategy", names_below("Strategies:", help));
}

}  // namespace rankbox::cli
