#include "cli/compare/names.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/compare/plan/algorithms.h"
#include "cli/support/lists.h"
#include "comm/errors.h"

namespace rankbox::cli {
namespace {

template <class T>
bool contains(const std::vector<T>& all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

CollectiveKind collective_named(const std::string& name) {
  std::vector<std::string_view> names;
  for (const CollectiveKind collective : compared_collectives()) {
    if (name == name_of(collective)) return collective;
    names.emplace_back(name_of(collective));
  }
  throw InvalidArgument(fmt::format("unknown collective \"{}\": choose one of {}, all", name,
                                    fmt::join(names, ", ")));
}

}  // namespace

std::vector<CollectiveKind> parse_collectives(const std::string& text) {
  if (text == "all") return {compared_collectives().begin(), compared_collectives().end()};
  std::vector<CollectiveKind> wanted;
  for (const std::string& name : split_at_commas(text)) {
    const CollectiveKind collective = collective_named(name);
    if (!contains(wanted, collective)) wanted.push_back(collective);
  }
  if (wanted.empty()) return {collective_named(text)};  // throws
  return wanted;
}

std::vector<std::string> parse_algorithms(const std::string& text,
                                          const std::vector<CollectiveKind>& collectives) {
  std::vector<std::string> known;
  for (const CollectiveKind collective : collectives) {
    for (const Algorithm& algorithm : algorithms_of(collective)) {
      if (!contains(known, std::string(algorithm.name))) known.emplace_back(algorithm.name);
    }
  }
  std::vector<std::string> wanted = split_at_commas(text);
  for (const std::string& name : wanted) {
    if (!contains(known, name)) {
      throw InvalidArgument(
          fmt::format("unknown algorithm \"{}\": choose from {}", name, fmt::join(known, ", ")));
    }
  }
  return wanted;
}

}  // namespace rankbox::cli
