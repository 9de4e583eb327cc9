#include "cli/compare/arguments.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/compare/plan/algorithms.h"
#include "cli/support/lists.h"
#include "comm/errors.h"

namespace rankbox::cli {
namespace {

// Limit on the number of sizes.
constexpr std::int64_t kMostSizes = 10'000;

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

std::int64_t parse_size(const char* option, std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  try {
    return parse_bytes(text);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("{}: {}", option, error.what()));
  }
}

std::vector<std::int64_t> sizes_of(const Sweep& sweep) {
  if (sweep.min_bytes > sweep.max_bytes) {
    throw InvalidArgument(
        fmt::format("-b {} is more than -e {}: swap them", sweep.min_bytes, sweep.max_bytes));
  }
  if (sweep.max_bytes < 4) {
    throw InvalidArgument(fmt::format("-e {} holds no float32: give at least 4", sweep.max_bytes));
  }
  const bool multiplies = sweep.step_factor > 0;
  if (multiplies && sweep.step_factor < 2) {
    throw InvalidArgument("-f 1 does not advance: give a factor of at least 2, or -i BYTES");
  }
  if (!multiplies && sweep.step_bytes < 1) {
    throw InvalidArgument("-i 0 does not advance: give a step of at least 1 byte, or -f FACTOR");
  }
  if (!multiplies && (sweep.max_bytes - sweep.min_bytes) / sweep.step_bytes >= kMostSizes) {
    throw InvalidArgument(
        fmt::format("-b {} -e {} -i {} are more than {} sizes: give a larger step, or -f FACTOR",
                    sweep.min_bytes, sweep.max_bytes, sweep.step_bytes, kMostSizes));
  }
  std::vector<std::int64_t> sizes;
  // Zero times a factor stays zero, so a multiplying sweep starts at 1.
  for (std::int64_t bytes = multiplies ? std::max<std::int64_t>(sweep.min_bytes, 1)
                                       : sweep.min_bytes;
       bytes <= sweep.max_bytes;
       bytes = multiplies ? bytes * sweep.step_factor : bytes + sweep.step_bytes) {
    sizes.push_back(bytes);
  }
  return sizes;
}

}  // namespace rankbox::cli
