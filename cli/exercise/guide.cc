#include "cli/exercise/guide.h"

#include <string_view>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "cli/support/paths.h"
#include "comm/errors.h"

namespace rankbox::cli {

Guide guide_of(const Exercise& exercise) {
  const std::string path = guide_path(chapter_of(exercise));
  toml::table file;
  try {
    file = toml::parse_file(absolute_path(path));
  } catch (const toml::parse_error& error) {
    throw Error(fmt::format("{}:{}: {}", path, error.source().begin.line, error.description()));
  }
  const toml::node_view<toml::node> entry = file[exercise.name];
  Guide guide;
  guide.next = entry["next"].value_or(std::string());
  if (const toml::array* hints = entry["hints"].as_array()) {
    for (const toml::node& hint : *hints) guide.hints.push_back(hint.value_or(std::string()));
  }
  if (guide.hints.empty()) throw Error(fmt::format("{} has no hints for {}", path, exercise.name));
  return guide;
}

}  // namespace rankbox::cli
