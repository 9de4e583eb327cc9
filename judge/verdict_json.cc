#include "judge/verdict_json.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

namespace rankbox {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kDeepest = 4;  // a field of a check, in the array of checks

[[noreturn]] void refuse(const std::string& why) {
  throw std::runtime_error("not a verdict: " + why);
}

/// Returns whether the byte continues a character of UTF-8.
bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// A long text keeps its beginning and its end, which has the hint.
std::string shortened(const std::string& text) {
  if (text.size() <= kMostTextBytes) return text;
  constexpr std::string_view kGap = " … ";
  constexpr std::size_t kHalf = (kMostTextBytes - kGap.size()) / 2;
  std::size_t front = kHalf;
  std::size_t back = text.size() - kHalf;
  for (int i = 0; i < 3 && continues(text[front]); ++i) --front;
  for (int i = 0; i < 3 && continues(text[back]); ++i) ++back;
  return text.substr(0, front) + std::string(kGap) + text.substr(back);
}

std::string text_in(const Json& json, const char* field) {
  if (!json.contains(field) || !json.at(field).is_string())
    refuse(std::string(field) + " should be a text");
  return shortened(json.at(field).get_ref<const std::string&>());
}

int number_in(const Json& json, const char* field, std::int64_t least, std::int64_t most) {
  if (!json.contains(field) || !json.at(field).is_number_integer())
    refuse(std::string(field) + " should be a whole number");
  const bool fits = !json.at(field).is_number_unsigned() ||
                    json.at(field).get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX);
  const auto number = fits ? json.at(field).get<std::int64_t>() : INT64_MAX;
  if (number < least || number > most) refuse(std::string(field) + " is out of range");
  return static_cast<int>(number);
}

// Returns the enumerator with this name. Each enum counts up from 0 to `last`.
template <class Enum>
Enum named(const std::string& name, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (name == name_of(static_cast<Enum>(i))) return static_cast<Enum>(i);
  }
  refuse("unknown word '" + name + "'");
}

Check check_from(const Json& json) {
  if (!json.is_object()) refuse("a check should be an object");
  Check check{text_in(json, "name"), named(text_in(json, "status"), CheckStatus::kSkipped),
              text_in(json, "expected"), text_in(json, "actual"), text_in(json, "detail")};
  const bool is_known =
      check.name == kMemoryCheck || std::ranges::count(kCheckNames, check.name) > 0;
  if (!is_known) refuse("unknown check '" + check.name + "'");
  return check;
}

Hint hint_in(const Json& failure) {
  if (!failure.contains("hint")) return {};
  const Json& hint = failure.at("hint");
  if (!hint.is_object()) refuse("hint should be an object");
  return {text_in(hint, "id"), text_in(hint, "text")};
}

Failure failure_from(const Json& json) {
  if (!json.is_object()) refuse("failure should be an object");
  return {.kind = named(text_in(json, "kind"), FailureKind::kNotImplemented),
          .rank = number_in(json, "rank", -1, kMostNumber),
          .peer = number_in(json, "peer", -1, kMostNumber),
          .op = text_in(json, "op"),
          .file = text_in(json, "file"),
          .line = number_in(json, "line", 0, kMostNumber),
          .message = text_in(json, "message"),
          .replay = text_in(json, "replay"),
          .hint = hint_in(json)};
}

std::vector<std::string> warnings_from(const Json& json) {
  if (!json.contains("warnings") || !json.at("warnings").is_array()) refuse("it has no warnings");
  if (json.at("warnings").size() > kMostWarnings) refuse("it has too many warnings");
  std::vector<std::string> warnings;
  for (const Json& warning : json.at("warnings")) {
    if (!warning.is_string()) refuse("a warning should be a text");
    warnings.push_back(shortened(warning.get_ref<const std::string&>()));
  }
  return warnings;
}

/// Refuses what no judge says: readers rely on a failure where something failed.
void check_is_consistent(const Verdict& verdict) {
  for (const Check& check : verdict.checks) {
    const auto same = [&](const Check& other) { return other.name == check.name; };
    if (std::ranges::count_if(verdict.checks, same) > 1) refuse("check '" + check.name + "' twice");
  }
  const auto has = [&](CheckStatus status) {
    return std::ranges::count(verdict.checks, status, &Check::status) > 0;
  };
  if (verdict.passed() == verdict.failure.has_value())
    refuse("a failure, and only a failure, has a kind and a message");
  if (verdict.passed() && has(CheckStatus::kFail)) refuse("it passes, and a check fails");
  if (verdict.status == Status::kFail && has(CheckStatus::kPass) && !has(CheckStatus::kFail))
    refuse("it fails, and no check does");
}

}  // namespace

std::string to_json(const Verdict& verdict, int indent) {
  Json json;
  json["name"] = verdict.name;
  json["status"] = name_of(verdict.status);
  json["checks"] = Json::array();
  for (const Check& check : verdict.checks) {
    json["checks"].push_back({{"name", check.name},
                              {"status", name_of(check.status)},
                              {"expected", shortened(check.expected)},
                              {"actual", shortened(check.actual)},
                              {"detail", shortened(check.detail)}});
  }
  json["warnings"] = Json::array();
  for (const std::string& warning : verdict.warnings)
    json["warnings"].push_back(shortened(warning));
  if (verdict.failure) {
    const Failure& failure = *verdict.failure;
    json["failure"] = {{"kind", name_of(failure.kind)},
                       {"rank", failure.rank},
                       {"peer", failure.peer},
                       {"op", shortened(failure.op)},
                       {"file", shortened(failure.file)},
                       {"line", failure.line},
                       {"message", shortened(failure.message)},
                       {"replay", shortened(failure.replay)}};
    if (!failure.hint.id.empty())
      json["failure"]["hint"] = {{"id", shortened(failure.hint.id)},
                                 {"text", shortened(failure.hint.text)}};
  }
  // Messages may quote a learner's exception, which need not be UTF-8.
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Verdict verdict_from_json(std::string_view text) {
  if (text.size() > kMostVerdictBytes) refuse("too long");
  try {
    const Json json = Json::parse(text, [](int depth, Json::parse_event_t, Json&) {
      return depth <= kDeepest ? true
                               : throw std::runtime_error("not a verdict: nested too deeply");
    });
    if (!json.is_object()) refuse("it should be an object");
    Verdict verdict;
    verdict.name = text_in(json, "name");
    verdict.status = named(text_in(json, "status"), Status::kError);
    if (!json.contains("checks") || !json.at("checks").is_array()) refuse("it has no checks");
    for (const Json& check : json.at("checks")) verdict.checks.push_back(check_from(check));
    verdict.warnings = warnings_from(json);
    if (json.contains("failure")) verdict.failure = failure_from(json.at("failure"));
    check_is_consistent(verdict);
    return verdict;
  } catch (const Json::exception& error) {
    refuse(error.what());
  }
}

}  // namespace rankbox
