#include "cli/grade/foreign_waits.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "comm/errors.h"
#include "judge/verdict.h"
#include "judge/visible_text.h"

namespace rankbox::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRanks = 64;
constexpr std::size_t kMostName = 200;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 53;  // what a script counts exactly

void require(bool is_right) {
  if (!is_right) throw Error("no waits");
}

std::int64_t number(const Json& json, std::int64_t most) {
  require(json.is_number_integer());
  const auto value = json.get<std::int64_t>();
  require(value >= 0 && value <= most);
  return value;
}

std::string name(const Json& json) {
  return visible_name(json.get_ref<const std::string&>().substr(0, kMostName));
}

Json ranks(const Json& json) {
  require(json.is_array() && json.size() <= kMostRanks);
  auto all = Json::array();
  for (const Json& rank : json) all.push_back(number(rank, kMostNumber));
  return all;
}

}  // namespace

std::string checked_waits(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    Json cycle = ranks(json.at("cycle"));
    require(!cycle.empty());
    const Json& given = json.at("waits");
    require(given.is_array() && given.size() <= kMostRanks);
    auto waits = Json::array();
    for (const Json& wait : given) {
      waits.push_back({{"rank", number(wait.at("rank"), kMostNumber)},
                       {"op", name(wait.at("op"))},
                       {"peers", ranks(wait.at("peers"))},
                       {"bytes", number(wait.at("bytes"), kMostBytes)},
                       {"file", name(wait.at("file"))},
                       {"line", number(wait.at("line"), kMostNumber)}});
    }
    return Json({{"cycle", std::move(cycle)}, {"waits", std::move(waits)}}).dump();
  } catch (const Json::exception&) {
    return "";
  } catch (const Error&) {
    return "";
  }
}

}  // namespace rankbox::cli
