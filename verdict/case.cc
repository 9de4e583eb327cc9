#include "verdict/case.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox {

namespace {

// More than any table asks for, and few enough that every result is exact (inputs.h).
constexpr int kMostRanks = 20;
constexpr std::int64_t kMostElements = 9999;

std::int64_t number(std::string_view field, std::string_view text, std::int64_t least,
                    std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw InvalidArgument(
        fmt::format("--replay: {}={} should be a number from {} to {}", field, text, least, most));
  }
  return value;
}

ReduceOp reduce_op(std::string_view text) {
  if (const auto op = find_reduce_op(text)) return *op;
  throw InvalidArgument(
      fmt::format("--replay: op={} should be SUM, PRODUCT, MAX, MIN or AVG", text));
}

void set_field(Case& example, std::string_view field, std::string_view text) {
  if (field == "world_size" && !example.threads) {
    example.world_size = static_cast<int>(number(field, text, 1, kMostRanks));
  } else if (field == "nodes" && example.nodes) {
    example.nodes = static_cast<int>(number(field, text, 1, kMostRanks));
  } else if (field == "root" && example.root) {
    example.root = static_cast<int>(number(field, text, 0, kMostRanks - 1));
  } else if (field == "segments" && example.segments) {
    example.segments = static_cast<int>(number(field, text, 1, 1024));
  } else if (field == "count" && example.count) {
    example.count = number(field, text, 0, kMostElements);
  } else if (field == "steps" && example.steps) {
    example.steps = static_cast<int>(number(field, text, 0, 1000));
  } else if (field == "bucket" && example.bucket_bytes) {
    example.bucket_bytes = number(field, text, 1, std::int64_t{1} << 30);
  } else if (field == "chunks" && example.chunks) {
    example.chunks = static_cast<int>(number(field, text, 1, 16));
  } else if (field == "replicas" && example.replicas) {
    example.replicas = static_cast<int>(number(field, text, 1, kMostRanks));
  } else if (field == "op" && example.op) {
    example.op = reduce_op(text);
  } else if (field == "threads" && example.threads) {
    example.threads = static_cast<int>(number(field, text, 2, 64));
  } else if (field == "repeats" && example.repeats) {
    example.repeats = number(field, text, 0, 10'000'000);
  } else {
    throw InvalidArgument(fmt::format("--replay: this exercise has no field '{}'; an example: {}",
                                      field, to_string(example)));
  }
}

}  // namespace

bool is_exact(const Case& example) {
  return example.world_size <= kMostRanks && example.count.value_or(0) <= kMostElements;
}

std::string to_string(const Case& example) {
  if (example.threads) {
    return fmt::format("threads={},repeats={}", *example.threads, example.repeats.value_or(0));
  }
  std::string text = fmt::format("world_size={}", example.world_size);
  if (example.nodes) text += fmt::format(",nodes={}", *example.nodes);
  if (example.root) text += fmt::format(",root={}", *example.root);
  if (example.segments) text += fmt::format(",segments={}", *example.segments);
  if (example.count) text += fmt::format(",count={}", *example.count);
  if (example.steps) text += fmt::format(",steps={}", *example.steps);
  if (example.bucket_bytes) text += fmt::format(",bucket={}", *example.bucket_bytes);
  if (example.chunks) text += fmt::format(",chunks={}", *example.chunks);
  if (example.replicas) text += fmt::format(",replicas={}", *example.replicas);
  if (example.op) text += fmt::format(",op={}", name_of(*example.op));
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
    set_field(example, part.substr(0, equals), part.substr(equals + 1));
  }
  if (example.root && *example.root >= example.world_size) {
    throw InvalidArgument(fmt::format("--replay: root={} is not one of the ranks 0 to {}",
                                      *example.root, example.world_size - 1));
  }
  if (example.threads && *example.threads % 2 != 0) {
    throw InvalidArgument(fmt::format(
        "--replay: threads={} should be even: half of them add, half subtract", *example.threads));
  }
  if (example.nodes && *example.nodes > example.world_size) {
    throw InvalidArgument(fmt::format("--replay: nodes={} is more than world_size={}",
                                      *example.nodes, example.world_size));
  }
  check_together(example);
  return example;
}

void check_together(const Case& example) {
  if (example.replicas && example.world_size % *example.replicas != 0) {
    throw InvalidArgument(fmt::format("replicas={} do not divide world_size={}", *example.replicas,
                                      example.world_size));
  }
  if (example.chunks && *example.segments % example.world_size != 0) {
    throw InvalidArgument(fmt::format("segments={} is no multiple of world_size={}",
                                      *example.segments, example.world_size));
  }
}

}  // namespace rankbox
