#include "cli/support/empty_values.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox::cli {
namespace {

constexpr const char* kEmpty = "the value is empty";

void refuse_in(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_expected_min() == 0) continue;  // a flag
    option->check([](const std::string& text) { return text.empty() ? kEmpty : ""; }, "");
  }
  for (CLI::App* subcommand : app.get_subcommands([](const CLI::App* each) {
         return !each->get_group().empty();  // a hidden one takes this program's own arguments
       })) {
    refuse_in(*subcommand);
  }
}

}  // namespace

void refuse_empty_values(CLI::App& app, const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--") break;
    if (word.starts_with("--") && word.find('=') + 1 == word.size())
      throw InvalidArgument(fmt::format("{} {}", word, kEmpty));
    // To CLI11 an optional value that is empty is none.
    const CLI::Option* const option =
        word.starts_with("--") ? app.get_option_no_throw(word) : nullptr;
    const bool is_optional =
        option && option->get_expected_min() == 0 && option->get_expected_max() > 0;
    if (is_optional && i + 1 < arguments.size() && arguments[i + 1].empty())
      throw InvalidArgument(fmt::format("{}: {}", word, kEmpty));
  }
  refuse_in(app);
}

}  // namespace rankbox::cli
