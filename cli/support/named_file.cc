#include "cli/support/named_file.h"

#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox::cli {

std::vector<std::string> take_values(std::string_view option, std::string_view fix,
                                     std::vector<std::string>& arguments) {
  std::vector<std::string> values;
  std::vector<std::string> others;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == option) {
      if (++i == arguments.size()) throw InvalidArgument(fmt::format("{}: {}", option, fix));
      values.push_back(arguments[i]);
    } else if (word.starts_with(option) && word[option.size()] == '=') {
      values.push_back(word.substr(option.size() + 1));
    } else {
      others.push_back(word);
    }
  }
  arguments = others;
  return values;
}

NamedFile named_file(std::string_view option, std::string_view text, std::string_view fix) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size())
    throw InvalidArgument(fmt::format("{} {}: {}", option, text, fix));
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

}  // namespace rankbox::cli
