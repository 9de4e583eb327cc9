#include "judge/race/histogram.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <numeric>

#include <doctest/doctest.h>

#include "judge/race/grouped.h"
#include "tests/support/run_tests.h"

namespace rankbox {
namespace {

/// Columns on the terminal: characters, without UTF-8 continuation bytes and color codes.
int columns(const std::string& line) {
  int count = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      i = line.find('m', i);
    } else if ((static_cast<unsigned char>(line[i]) & 0xC0) != 0x80) {
      ++count;
    }
  }
  return count;
}

std::int64_t count_at_end_of(const std::string& line) {
  return std::atoll(line.c_str() + line.rfind(' ') + 1);
}

struct Case {
  const char* name;
  std::vector<std::int64_t> values;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"one zero", {0}},
      {"all the same", {7, 7, 7, 7}},
      {"one negative", {-1}},
      {"near zero", {-2, -1, 0, 1, 2}},
      {"all far above zero", {999'999, 1'000'000, 1'000'000}},
      {"all far below zero", {-999'999, -1'000'000}},
      {"both signs", {-123'456, -99'999, 0, 250'000, 1'000'000}},
      {"the largest", {-1'000'000'000'000'000'000, 1'000'000'000'000'000'000}},
      {"many", std::vector<std::int64_t>(100'000, -31)},
  };
  return all;
}

TEST_CASE("every value is counted once, for any values, rows and width") {
  for (const Case& example : cases()) {
    if (!testing::wants_row(example.name)) continue;
    for (const int rows : {2, 3, 16, 40}) {
      for (const int width : {1, 40, 80, 200}) {
        CAPTURE(example.name);
        CAPTURE(rows);
        CAPTURE(width);
        const std::vector<std::string> lines =
            histogram(example.values, {.width = width, .rows = rows});
        CHECK(!lines.empty());
        CHECK(static_cast<int>(lines.size()) <= rows);
        std::int64_t total = 0;
        for (const std::string& line : lines) total += count_at_end_of(line);
        CHECK(total == static_cast<std::int64_t>(example.values.size()));
      }
    }
  }
}

TEST_CASE(
    "no line is longer than the width, and the fullest bin uses it all, with and without color") {
  for (const Case& example : cases()) {
    if (!testing::wants_row(example.name)) continue;
    if (example.values.front() < -1'000'000'000'000) continue;  // labels of 50 columns
    for (const bool color : {false, true}) {
      for (const int width : {40, 60, 80, 133}) {
        CAPTURE(example.name);
        CAPTURE(width);
        int widest = 0;
        for (const std::string& line :
             histogram(example.values, {.width = width, .color = color})) {
          widest = std::max(widest, columns(line));
        }
        CHECK(widest == width);
      }
    }
  }
}

TEST_CASE("exactly the bin of the expected value is marked, even if no value is in it") {
  for (const Case& example : cases()) {
    if (!testing::wants_row(example.name)) continue;
    CAPTURE(example.name);
    int marked = 0;
    for (const std::string& line : histogram(example.values)) marked += line.front() == '>' ? 1 : 0;
    CHECK(marked == 1);
  }
  const std::vector<std::int64_t> values = {5, 6};
  const std::vector<std::string> lines = histogram(values);
  CHECK(lines.size() == 7);  // 0 to 6
  CHECK(lines.front().front() == '>');
  CHECK(count_at_end_of(lines.front()) == 0);
}

TEST_CASE("a bin with a single value among thousands has a visible bar, an empty one has none") {
  std::vector<std::int64_t> values(10'000, 0);
  values.push_back(2);
  const std::vector<std::string> lines = histogram(values);
  REQUIRE(lines.size() == 3);
  CHECK(lines[1] == "  1 │ 0");
  CHECK(lines[2] == "  2 │▏ 1");
}

TEST_CASE("labels say which values a bin holds") {
  const std::vector<std::int64_t> values = {-20'000, -10'001, 0, 9'999};
  const std::vector<std::string> lines = histogram(values, {.rows = 3});
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].starts_with("  -20,000 .. -10,001 │"));
  CHECK(lines[1].starts_with("  -10,000 .. -1      │"));
  CHECK(lines[2].starts_with(">       0 .. 9,999   │"));
  CHECK(count_at_end_of(lines[0]) == 2);
  CHECK(count_at_end_of(lines[1]) == 0);
  CHECK(count_at_end_of(lines[2]) == 2);
}

TEST_CASE("escape codes appear only with color, around bars") {
  const std::vector<std::int64_t> values = {0, 2};
  for (const std::string& line : histogram(values)) CHECK(line.find('\x1b') == std::string::npos);
  const std::vector<std::string> colored = histogram(values, {.color = true});
  REQUIRE(colored.size() == 3);
  CHECK(colored[0].find("\x1b[32m") != std::string::npos);
  CHECK(colored[1] == "  1 │ 0");
  CHECK(colored[2].find("\x1b[31m") != std::string::npos);
}

TEST_CASE("no values, no lines") { CHECK(histogram({}).empty()); }

TEST_CASE("numbers are grouped by thousands") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(-999) == "-999");
  CHECK(grouped(1'000) == "1,000");
  CHECK(grouped(-1'234'567) == "-1,234,567");
  CHECK(grouped(INT64_MIN) == "-9,223,372,036,854,775,808");
}

}  // namespace
}  // namespace rankbox
