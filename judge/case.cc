#include "judge/case.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "comm/errors.h"
#include "comm/whole_number.h"

namespace rankbox {

namespace {

constexpr int kMostRanks = kMostExactRanks;  // above any list of cases but the far ones
constexpr std::int64_t kMostElements = 9999;
// Of Subject::far_cases under any salt.
constexpr int kMostFarRanks = 80;
constexpr std::int64_t kMostFarElements = 120'000;

using Member = std::variant<std::optional<int> Case::*, std::optional<std::int64_t> Case::*,
                            std::optional<ReduceOp> Case::*>;

struct Field {
  std::string_view name;
  Member member;
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::int64_t most_far = most;  // where the defaults are a far case
};

constexpr Field kWorldSize = {"world_size", {}, 1, kMostRanks, kMostFarRanks};

// In the order in which they are written.
constexpr Field kFields[] = {
    {"nodes", &Case::nodes, 1, kMostRanks, kMostFarRanks},
    {"mesh", &Case::mesh, 1, kMostRanks},
    {"from", &Case::from, 0, 8},
    {"to_mesh", &Case::to_mesh, 1, kMostRanks},
    {"to", &Case::to, 0, 8},
    {"root", &Case::root, 0, kMostRanks - 1, kMostFarRanks - 1},
    {"segments", &Case::segments, 1, 1024},
    {"count", &Case::count, 0, kMostElements, kMostFarElements},
    {"steps", &Case::steps, 0, 1000},
    {"bucket", &Case::bucket_bytes, 1, std::int64_t{1} << 30},
    {"chunks", &Case::chunks, 1, 16},
    {"replicas", &Case::replicas, 1, kMostRanks},
    {"layers", &Case::layers, 1, 64},
    {"op", &Case::op},
    {"threads", &Case::threads, 2, 64},
    {"repeats", &Case::repeats, 0, 10'000'000},
};

template <class Number>
void read(std::optional<Number>& value, const Field& field, bool is_far, std::string_view text) {
  const std::int64_t most = is_far ? field.most_far : field.most;
  const auto number = parse_whole_number(text, field.least, most);
  if (!number) {
    throw InvalidArgument(fmt::format("--replay: {}={} should be a number from {} to {}",
                                      field.name, text, field.least, most));
  }
  value = static_cast<Number>(*number);
}

void read(std::optional<ReduceOp>& op, const Field& field, bool /*is_far*/, std::string_view text) {
  op = find_reduce_op(text);
  if (op) return;
  throw InvalidArgument(
      fmt::format("--replay: {}={} should be SUM, PRODUCT, MAX, MIN or AVG", field.name, text));
}

std::string written(std::int64_t number) { return std::to_string(number); }
std::string written(ReduceOp op) { return name_of(op); }

/// Sets the field of this name. Throws if the case does not have it.
void set_field(Case& example, bool is_far, std::string_view name, std::string_view text) {
  if (name == kWorldSize.name && !example.threads) {
    std::optional<int> world_size;
    read(world_size, kWorldSize, is_far, text);
    example.world_size = *world_size;
    return;
  }
  for (const Field& field : kFields) {
    const auto set = [&](auto member) {
      if (!(example.*member)) return false;
      read(example.*member, field, is_far, text);
      return true;
    };
    if (name == field.name && std::visit(set, field.member)) return;
  }
  throw InvalidArgument(fmt::format("--replay: this exercise has no field '{}'; an example: {}",
                                    name, to_string(example)));
}

/// Throws if fields contradict each other. A far case may have nodes of unequal size.
void check_together(const Case& example, bool is_far) {
  const int p = example.world_size;
  const auto refuse = [](const std::string& what) { throw InvalidArgument("--replay: " + what); };
  if (example.root.value_or(0) >= p)
    refuse(fmt::format("root={} is not one of the ranks 0 to {}", *example.root, p - 1));
  if (example.threads.value_or(0) % 2 != 0)
    refuse(fmt::format("threads={} should be even: half of them add, half subtract",
                       *example.threads));
  if (!is_far && p % example.nodes.value_or(1) != 0)
    refuse(fmt::format("nodes={} should divide world_size={}", *example.nodes, p));
  for (const int extent : {example.mesh.value_or(1), example.to_mesh.value_or(1)}) {
    if (p % extent != 0)
      refuse(fmt::format("a mesh of {} x … ranks should divide world_size={}", extent, p));
  }
  if (p % example.replicas.value_or(1) != 0)
    refuse(fmt::format("replicas={} should divide world_size={}", *example.replicas, p));
  if (example.chunks && *example.segments % p != 0)
    refuse(fmt::format("segments={} should be a multiple of world_size={}", *example.segments, p));
}

}  // namespace

bool is_exact(const Case& example) {
  return example.world_size <= kMostRanks && example.count.value_or(0) <= kMostElements;
}

std::string to_string(const Case& example) {
  std::string text;
  if (!example.threads) text = fmt::format("world_size={}", example.world_size);
  for (const Field& field : kFields) {
    const auto append = [&](auto member) {
      if (!(example.*member)) return;
      text +=
          fmt::format("{}{}={}", text.empty() ? "" : ",", field.name, written(*(example.*member)));
    };
    std::visit(append, field.member);
  }
  return text;
}

Case parse_case(std::string_view text, const Case& defaults) {
  Case example = defaults;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      throw InvalidArgument(fmt::format("--replay: '{}' should be field=value; an example: {}",
                                        part, to_string(defaults)));
    }
    set_field(example, !is_exact(defaults), part.substr(0, equals), part.substr(equals + 1));
  }
  check_together(example, !is_exact(defaults));
  return example;
}

Case replayed_case(std::string_view text, const std::vector<Case>& cases) {
  const auto is_it = [&](const Case& example) { return to_string(example) == text; };
  const auto found = std::ranges::find_if(cases, is_it);
  if (found != cases.end()) return *found;
  try {
    return parse_case(text, cases.front());
  } catch (const InvalidArgument&) {
    // Under a salt, far cases have other numbers; a replay line has all their fields.
    const bool has_nodes = text.find("nodes=") != std::string_view::npos;
    const auto far = std::ranges::find_if(cases, [&](const Case& example) {
      return !is_exact(example) && example.nodes.has_value() == has_nodes;
    });
    if (far == cases.end()) throw;
    const Case salted = parse_case(text, *far);
    if (to_string(salted) != text) throw;
    return salted;
  }
}

}  // namespace rankbox
