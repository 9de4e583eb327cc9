#include "verdict/verdict_json.h"

#include <stdexcept>

#include <nlohmann/json.hpp>

namespace rankbox {

namespace {

using Json = nlohmann::ordered_json;

// Returns the enumerator with this name. Each enum counts up from 0 to `last`.
template <class Enum>
Enum named(const std::string& name, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (name == name_of(static_cast<Enum>(i))) return static_cast<Enum>(i);
  }
  throw std::runtime_error("not a verdict: unknown word '" + name + "'");
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
                              {"expected", check.expected},
                              {"actual", check.actual},
                              {"detail", check.detail}});
  }
  if (verdict.failure) {
    const Failure& failure = *verdict.failure;
    json["failure"] = {{"kind", name_of(failure.kind)}, {"rank", failure.rank},
                       {"peer", failure.peer},          {"op", failure.op},
                       {"file", failure.file},          {"line", failure.line},
                       {"message", failure.message},    {"replay", failure.replay}};
  }
  // Messages may quote a learner's exception, which need not be UTF-8.
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Verdict verdict_from_json(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    Verdict verdict;
    verdict.name = json.at("name");
    verdict.status = named(json.at("status"), Status::kError);
    for (const Json& check : json.at("checks")) {
      verdict.checks.push_back({check.at("name"), named(check.at("status"), CheckStatus::kSkipped),
                                check.at("expected"), check.at("actual"), check.at("detail")});
    }
    if (json.contains("failure")) {
      const Json& failure = json.at("failure");
      verdict.failure = Failure{named(failure.at("kind"), FailureKind::kNotImplemented),
                                failure.at("rank"),
                                failure.at("peer"),
                                failure.at("op"),
                                failure.at("file"),
                                failure.at("line"),
                                failure.at("message"),
                                failure.at("replay")};
    }
    return verdict;
  } catch (const Json::exception& error) {
    throw std::runtime_error(std::string("not a verdict: ") + error.what());
  }
}

}  // namespace rankbox
