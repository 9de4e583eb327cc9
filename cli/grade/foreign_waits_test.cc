// What a submitted program may leave in place of the waits of its deadlock.
#include "cli/grade/foreign_waits.h"

#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "viewer/waits_json.h"

namespace rankbox::cli {
namespace {

using Json = nlohmann::ordered_json;

Json example() {
  const DeadlockError deadlock(
      "deadlock", {},
      {{.rank = 0, .op = "recv", .peers = {1}, .bytes = 4, .file = "a.cc", .line = 7},
       {.rank = 1, .op = "recv", .peers = {0}, .bytes = 4, .file = "a.cc", .line = 7}},
      {0, 1});
  return waits_json(deadlock, {});
}

}  // namespace

TEST_CASE("the waits of a deadlock stay as they are") {
  CHECK(checked_waits(example().dump()) == example().dump());
}

TEST_CASE("texts become visible and short, and unknown fields are dropped") {
  Json foreign = example();
  foreign["waits"][0]["op"] = "\x1b[31m</script>";
  foreign["waits"][1]["file"] = std::string(100'000, 'x');
  foreign["more"] = std::string(100'000, 'x');
  foreign["waits"][0]["more"] = 1;
  const std::string text = checked_waits(foreign.dump());
  CHECK(text.size() < 1000);
  CHECK(Json::parse(text).at("waits").at(0).at("op") == "\\x1b[31m</script>");
}

TEST_CASE("anything else is nothing") {
  for (const char* text :
       {"", "{", "null", "[]", "7", R"({"cycle": [0]})", "\xff", R"({"cycle": 0, "waits": 0})"})
    CHECK(checked_waits(text).empty());

  const auto changed = [](const char* pointer, const Json& value) {
    Json foreign = example();
    foreign[Json::json_pointer(pointer)] = value;
    return checked_waits(foreign.dump());
  };
  REQUIRE(!changed("/cycle/0", 5).empty());
  CHECK(changed("/cycle", Json::array()).empty());
  CHECK(changed("/cycle", std::vector<int>(65)).empty());
  CHECK(changed("/cycle/0", -1).empty());
  CHECK(changed("/cycle/0", 1.5).empty());
  CHECK(changed("/waits/0/rank", "0").empty());
  CHECK(changed("/waits/0/rank", std::int64_t{1} << 40).empty());
  CHECK(changed("/waits/0/peers", std::vector<int>(65)).empty());
  CHECK(changed("/waits/0/bytes", -4).empty());
  CHECK(changed("/waits/0/bytes", ~std::uint64_t{0}).empty());
  CHECK(changed("/waits/0/op", 3).empty());
  CHECK(changed("/waits/0", nullptr).empty());
}

}  // namespace rankbox::cli
