#include "judge/race/race_demo.h"

#include <climits>
#include <cstdio>
#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "comm/errors.h"

namespace rankbox {
namespace {

struct Printed {
  int status = -1;
  std::string text;
};

Printed run_to_string(const RaceOptions& options) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  REQUIRE(file != nullptr);
  Printed printed;
  printed.status = run_race_demo(options, file.get());
  std::rewind(file.get());
  for (int c = std::fgetc(file.get()); c != EOF; c = std::fgetc(file.get()))
    printed.text += static_cast<char>(c);
  return printed;
}

TEST_CASE(
    "the demo asks first, then shows the race, the three fixes with their cost, and an "
    "interleaving") {
  for (const int threads : {2, 4}) {
    for (const std::int64_t repeats : {0, 1, 20'000}) {
      CAPTURE(threads);
      CAPTURE(repeats);
      const Printed demo = run_to_string({.threads = threads, .repeats = repeats, .runs = 3});
      CAPTURE(demo.text);
      CHECK(demo.status == 0);
      std::size_t at = 0;
      for (const char* part : {"?", "3 runs", "│", "unfixed", "mutex", "3 of 3", "atomic", "3 of 3",
                               "messages", "3 of 3", "load   a = value", "20", "18"}) {
        CAPTURE(part);
        const std::size_t found = demo.text.find(part, at);
        REQUIRE(found != std::string::npos);
        at = found;
      }
      CHECK(demo.text.find('\x1b') == std::string::npos);
    }
  }
}

TEST_CASE("amount and delay are in the question, and the amount is in the interleaving") {
  const Printed demo = run_to_string({.repeats = 10, .amount = 999, .delay = 1'500, .runs = 2});
  CAPTURE(demo.text);
  CHECK(demo.status == 0);
  for (const char* part : {"value + 999", "value - 999", "1,500 ns", "a = a + 999", "b = b - 999"})
    CHECK(demo.text.find(part) != std::string::npos);
}

TEST_CASE("prose is given to be broken") {
  const auto mark = [](const std::string& line) { return "<" + line + ">"; };
  const Printed demo = run_to_string({.repeats = 1'000, .runs = 3, .fit = mark});
  CAPTURE(demo.text);
  for (const char* part : {"<Is it the same in every run?>", "<before the other begins.>"}) {
    CAPTURE(part);
    CHECK(demo.text.find(part) != std::string::npos);
  }
}

TEST_CASE("with color, every line ends with colors off, so that it may be interrupted anywhere") {
  const Printed demo = run_to_string({.repeats = 1'000, .runs = 3, .color = true});
  CHECK(demo.text.find('\x1b') != std::string::npos);
  for (std::size_t begin = 0; begin < demo.text.size();) {
    const std::size_t end = demo.text.find('\n', begin);
    const std::string line = demo.text.substr(begin, end - begin);
    const std::size_t last_code = line.rfind("\x1b[");
    if (last_code != std::string::npos) CHECK(line.compare(last_code, 4, "\x1b[0m") == 0);
    begin = end + 1;
  }
}

TEST_CASE(
    "an impossible option is one line that names the option, its value and the possible values") {
  struct Case {
    RaceOptions options;
    const char* option;
    const char* value;
  };
  const Case cases[] = {
      {{.threads = 0}, "--threads", "0"},
      {{.threads = -2}, "--threads", "-2"},
      {{.threads = 3}, "--threads", "3"},
      {{.threads = kMaxRaceThreads + 2}, "--threads", "514"},
      {{.threads = INT_MIN}, "--threads", "-2147483648"},
      {{.repeats = -1}, "--repeats", "-1"},
      {{.repeats = INT64_MAX}, "--repeats", "9223372036854775807"},
      {{.amount = 0}, "--amount", "0"},
      {{.amount = kMaxRaceAmount + 1}, "--amount", "1000"},
      {{.delay = -1}, "--delay", "-1"},
      {{.delay = kMaxRaceDelay + 1}, "--delay", "1000001"},
      {{.runs = 0}, "--runs", "0"},
      {{.runs = -5}, "--runs", "-5"},
      {{.runs = INT_MAX}, "--runs", "2147483647"},
  };
  for (const Case& example : cases) {
    CAPTURE(example.option);
    CAPTURE(example.value);
    std::string message;
    try {
      run_to_string(example.options);
    } catch (const InvalidArgument& error) {
      message = error.what();
    }
    CAPTURE(message);
    CHECK(message.find(example.option) == 0);
    CHECK(message.find(example.value) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
  }
}

}  // namespace
}  // namespace rankbox
