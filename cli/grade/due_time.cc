#include "cli/grade/due_time.h"

#include <ctime>
#include <regex>

#include <fmt/format.h>
#include <toml++/toml.h>

namespace rankbox::cli {
namespace {

std::tm to_tm(const toml::date& date, const toml::time& time) {
  std::tm moment = {};
  moment.tm_year = date.year - 1900;
  moment.tm_mon = date.month - 1;
  moment.tm_mday = date.day;
  moment.tm_hour = time.hour;
  moment.tm_min = time.minute;
  moment.tm_sec = time.second;
  moment.tm_isdst = -1;
  return moment;
}

/// Returns the text as TOML writes times: "… +0100" becomes "…+01:00", and seconds are added.
std::string as_toml(std::string text) {
  static const std::regex zone("^(.*[0-9]) ?(Z|[+-][0-9]{2}:?[0-9]{2})$");
  static const std::regex minutes("^([0-9-]{10}[T ][0-9]{2}:[0-9]{2})$");
  std::string suffix;
  std::smatch match;
  if (text.find(':') != std::string::npos && std::regex_match(text, match, zone)) {
    suffix = match[2];
    if (suffix.size() == 5) suffix.insert(3, ":");
    text = match[1].str();
  }
  return std::regex_replace(text, minutes, "$1:00") + suffix;
}

}  // namespace

std::optional<std::int64_t> parse_time(const std::string& text) {
  constexpr std::size_t kMostBytes = 64;  // a stranger's text, and std::regex recurses
  static const std::regex characters("^[0-9TZ:.+ -]+$");  // and no TOML of another kind
  if (text.size() > kMostBytes || !std::regex_match(text, characters)) return std::nullopt;
  toml::table parsed;
  try {
    parsed = toml::parse(fmt::format("time = {}\n", as_toml(text)));
  } catch (const toml::parse_error&) {
    return std::nullopt;
  }
  if (const auto date = parsed["time"].value<toml::date>()) {
    std::tm moment = to_tm(*date, {23, 59, 59});
    return std::mktime(&moment);
  }
  const auto both = parsed["time"].value<toml::date_time>();
  if (!both) return std::nullopt;
  std::tm moment = to_tm(both->date, both->time);
  if (!both->offset) return std::mktime(&moment);
  return timegm(&moment) - std::int64_t{60} * both->offset->minutes;
}

}  // namespace rankbox::cli
