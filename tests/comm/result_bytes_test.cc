#include "comm/result_bytes.h"

#include <limits>
#include <map>
#include <memory>
#include <stdexcept>

#include <doctest/doctest.h>

namespace rankbox {
namespace {

struct Finding {
  int index = 0;
  std::string text;
  std::vector<double> values;
};
auto fields_of(Finding& finding) { return std::tie(finding.index, finding.text, finding.values); }

template <class T>
T there_and_back(const T& value) {
  return from_bytes<T>(to_bytes(value));
}

TEST_CASE("numbers, strings and what is made of them arrive as they were") {
  CHECK(there_and_back(-7) == -7);
  CHECK(there_and_back(std::numeric_limits<double>::infinity()) ==
        std::numeric_limits<double>::infinity());
  CHECK(there_and_back(true));
  CHECK(there_and_back(std::string("a\0b", 3)) == std::string("a\0b", 3));
  CHECK(there_and_back(std::vector<float>{}).empty());
  CHECK(there_and_back(std::vector<bool>{true, false, true}) ==
        std::vector<bool>{true, false, true});
  const std::vector<std::optional<std::string>> nested = {"x", std::nullopt, ""};
  CHECK(there_and_back(nested) == nested);
  const std::pair<int, std::tuple<char, std::string>> pair = {1, {'c', "d"}};
  CHECK(there_and_back(pair) == pair);
}

TEST_CASE("a struct travels by the fields that it ties") {
  const Finding arrived = there_and_back(Finding{3, "three", {1.5, -2}});
  CHECK(arrived.index == 3);
  CHECK(arrived.text == "three");
  CHECK(arrived.values == std::vector<double>{1.5, -2});
}

TEST_CASE("bytes that end too early are refused, wherever they are cut") {
  const std::string bytes = to_bytes(Finding{3, "three", {1.5, -2}});
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    CHECK_THROWS_AS(from_bytes<Finding>(bytes.substr(0, length)), std::runtime_error);
  }
}

// What cannot travel is known when compiling.
static_assert(Portable<std::vector<std::optional<Finding>>>);
static_assert(!Portable<int*>);
static_assert(!Portable<std::unique_ptr<int>>);
static_assert(!Portable<std::map<int, int>>);

}  // namespace
}  // namespace rankbox
