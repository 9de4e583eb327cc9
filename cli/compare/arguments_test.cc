#include "cli/compare/arguments.h"

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "tests/support/text.h"

namespace rankbox::cli {
namespace {

using enum CollectiveKind;

std::string complaint(const std::string& collectives, const std::string& algorithms) {
  try {
    parse_algorithms(algorithms, parse_collectives(collectives));
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("collectives: one, some in the order given, or all") {
  CHECK(parse_collectives("all_reduce") == std::vector{kAllReduce});
  CHECK(parse_collectives("reduce,broadcast,reduce") == std::vector{kReduce, kBroadcast});
  CHECK(parse_collectives("all").size() == 9);
}

TEST_CASE("algorithms: those of any of the collectives") {
  CHECK(parse_algorithms("", {kAllReduce}).empty());
  CHECK(parse_algorithms("ring,tree", {kAllReduce}) == std::vector<std::string>{"ring", "tree"});
  CHECK(parse_algorithms("bruck,ring", {kAllReduce, kAllGather}).size() == 2);
}

TEST_CASE("an unknown name is one line with the names there are") {
  CHECK(testing::lacks(complaint("allreduce", ""), {"\"allreduce\"", "all_reduce"}) == "");
  CHECK(testing::lacks(complaint("", ""), {"\"\""}) == "");
  CHECK(testing::lacks(complaint("broadcast,", ""), {"\"\""}) == "");
  CHECK(testing::lacks(complaint("all_reduce", "bruck"), {"\"bruck\"", "rabenseifner"}) == "");
}

constexpr std::int64_t kKi = 1024;
constexpr std::int64_t kMi = 1024 * kKi;
constexpr std::int64_t kGi = 1024 * kMi;

Sweep sweep(std::int64_t min, std::int64_t max, int factor, std::int64_t step = kMi) {
  return {min, max, step, factor};
}

TEST_CASE("a size is bytes, or in powers of 1024, in either case") {
  const struct {
    const char* text;
    std::int64_t bytes;
  } table[] = {{"8", 8},          {"0", 0},          {"1K", kKi}, {"1k", kKi},
               {"16M", 16 * kMi}, {"16m", 16 * kMi}, {"1G", kGi}, {"64g", 64 * kGi}};
  for (const auto& row : table) {
    CAPTURE(row.text);
    CHECK(parse_size("-b", row.text) == row.bytes);
  }
}

TEST_CASE("a bad size is one line that names the option and the text") {
  for (const char* bad : {"", "x", "-8", "1.55M", "8 ", "1T", "65G", "8K8"}) {
    CAPTURE(bad);
    try {
      parse_size("-e", bad);
      FAIL("accepted");
    } catch (const InvalidArgument& error) {
      const std::string message = error.what();
      CHECK(message.find("-e: ") == 0);
      CHECK(message.find('\n') == std::string::npos);
    }
  }
}

TEST_CASE("a sweep multiplies where it has a factor, and adds where it has none") {
  const struct {
    Sweep sweep;
    std::vector<std::int64_t> sizes;
  } table[] = {
      {sweep(8, 128, 4), {8, 32, 128}},
      {sweep(8, 100, 4), {8, 32}},
      {sweep(8, 8, 2), {8}},
      {sweep(0, 4, 2), {1, 2, 4}},
      {sweep(4, 16, 0, 4), {4, 8, 12, 16}},
      {sweep(4, 17, 0, 6), {4, 10, 16}},
      {sweep(32 * kMi, 32 * kMi, 0), {32 * kMi}},
      {sweep(32 * kGi, 64 * kGi, 2), {32 * kGi, 64 * kGi}},
  };
  for (const auto& row : table) {
    CAPTURE(row.sweep.min_bytes);
    CAPTURE(row.sweep.max_bytes);
    CHECK(sizes_of(row.sweep) == row.sizes);
  }
}

TEST_CASE("a sweep that makes no sense is refused in the words of the options") {
  const struct {
    Sweep sweep;
    const char* named;
  } table[] = {
      {sweep(16, 8, 2), "-b 16"}, {sweep(8, 16, 1), "-f 1"},      {sweep(8, 16, 0, 0), "-i 0"},
      {sweep(0, 3, 2), "-e 3"},   {sweep(4, kGi, 0, 4), "10000"},
  };
  for (const auto& row : table) {
    try {
      sizes_of(row.sweep);
      FAIL("accepted");
    } catch (const InvalidArgument& error) {
      const std::string message = error.what();
      CAPTURE(message);
      CHECK(message.find(row.named) != std::string::npos);
      CHECK(message.find('\n') == std::string::npos);
    }
  }
}

}  // namespace
}  // namespace rankbox::cli
