#include "cli/support/lists.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "comm/errors.h"
#include "comm/whole_number.h"

namespace rankbox::cli {
namespace {

constexpr std::int64_t kMaxBytes = std::int64_t{64} << 30;

std::vector<std::string> split_at(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    pieces.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      break;
    }
    text.remove_prefix(end + 1);
    if (text.empty()) {
      pieces.emplace_back();
    }
  }
  return pieces;
}

/// Parses bytes with a unit of K, M or G, at most kMaxBytes; may be negative.
std::int64_t number_of_bytes(std::string_view text) {
  std::string_view digits = text;
  std::int64_t unit = 1;
  if (!digits.empty()) {
    const std::size_t power = std::string_view("KMG").find(digits.back());
    if (power != std::string_view::npos) {
      unit = std::int64_t{1} << (10 * (power + 1));
      digits.remove_suffix(1);
    }
  }
  const bool is_plain = digits.find_first_not_of("0123456789.", digits.starts_with('-') ? 1 : 0) ==
                        std::string_view::npos;
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const double bytes = value * static_cast<double>(unit);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  if (!is_plain || !is_number || bytes != std::floor(bytes)) {
    throw InvalidArgument(fmt::format(
        "\"{}\" is not a size: write a whole number of bytes, like 8, 64K, 1.5M or 1G", text));
  }
  if (std::abs(bytes) > static_cast<double>(kMaxBytes)) {
    throw InvalidArgument(fmt::format("size {} is too large: at most 64G", text));
  }
  return static_cast<std::int64_t>(bytes);
}

std::int64_t parse_size(std::string_view text) {
  const std::int64_t bytes = number_of_bytes(text);
  if (bytes < 4 || bytes % 4 != 0) {
    throw InvalidArgument(fmt::format(
        "size {} does not hold a whole number of float32: a multiple of 4, at least 4", text));
  }
  return bytes;
}

std::vector<std::int64_t> parse_sweep(std::string_view text) {
  const std::vector<std::string> parts = split_at(text, ':');
  if (parts.size() != 3) {
    throw InvalidArgument(
        fmt::format("\"{}\" is not a sweep: write START:END:FACTOR, like 8:16M:4", text));
  }
  const std::int64_t start = parse_size(parts[0]);
  const std::int64_t end = parse_size(parts[1]);
  const std::optional<std::int64_t> factor = parse_whole_number(parts[2]);
  if (!factor || *factor < 2) {
    throw InvalidArgument(
        fmt::format("factor \"{}\" in \"{}\": a whole number, at least 2", parts[2], text));
  }
  if (end < start) {
    throw InvalidArgument(
        fmt::format("\"{}\" ends before it starts: {} is less than {}", text, parts[1], parts[0]));
  }
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = start;; bytes *= *factor) {
    sizes.push_back(bytes);
    if (bytes > end / *factor) {
      return sizes;
    }
  }
}

}  // namespace

std::vector<std::string> split_at_commas(std::string_view text) { return split_at(text, ','); }

std::vector<int> parse_ranks(std::string_view text) {
  std::vector<int> ranks;
  for (const std::string& piece : split_at_commas(text)) {
    const std::optional<std::int64_t> value = parse_whole_number(piece);
    if (!value || *value < 1 || *value > kLargestWorld) {
      throw InvalidArgument(fmt::format(
          "\"{}\" is not a number of ranks: a whole number from 1 to {}", piece, kLargestWorld));
    }
    if (std::find(ranks.begin(), ranks.end(), *value) == ranks.end()) {
      ranks.push_back(static_cast<int>(*value));
    }
  }
  if (ranks.empty()) {
    throw InvalidArgument("an empty list of ranks: write world sizes, like 2,4,8");
  }
  return ranks;
}

std::int64_t parse_bytes(std::string_view text) {
  const std::int64_t bytes = number_of_bytes(text);
  if (bytes < 0) {
    throw InvalidArgument(fmt::format("{} bytes is less than 0: give at least 0", text));
  }
  return bytes;
}

std::vector<std::int64_t> parse_sizes(std::string_view text) {
  std::vector<std::int64_t> sizes;
  if (text.find(':') != std::string_view::npos) {
    sizes = parse_sweep(text);
  } else {
    for (const std::string& piece : split_at_commas(text)) {
      sizes.push_back(parse_size(piece));
    }
  }
  if (sizes.empty()) {
    throw InvalidArgument(
        "an empty list of sizes: write bytes, like 1K,1M,4M, or a sweep, like 8:16M:4");
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::string format_bytes(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit < 3) {
    value /= 1024;
    ++unit;
  }
  // Whole numbers stay whole; others keep three digits.
  return value == std::floor(value) ? fmt::format("{:.0f} {}", value, kUnits[unit])
                                    : fmt::format("{:.3g} {}", value, kUnits[unit]);
}

std::string format_seconds(double seconds) {
  constexpr const char* kUnits[] = {"s", "ms", "µs", "ns"};
  std::size_t unit = 0;
  // 999.6 µs would round to 1000 µs, which should read 1 ms.
  while (unit < 3 && seconds > 0 && seconds < 0.9995) {
    seconds *= 1000;
    ++unit;
  }
  const int decimals = seconds >= 99.95 || seconds == 0 ? 0 : seconds >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", seconds, decimals, kUnits[unit]);
}

std::string format_virtual(double seconds) {
  if (seconds >= 0.99995) return fmt::format("{:.4g} s", seconds);
  if (seconds >= 0.99995e-3) return fmt::format("{:.4g} ms", seconds * 1e3);
  return fmt::format("{:.4g} µs", seconds * 1e6);
}

}  // namespace rankbox::cli
