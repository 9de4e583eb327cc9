#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/grade/formats/formats.h"

namespace rankbox::cli {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kMostOutput = 500;  // characters, by the contract of the runners

/// Returns at most 500 bytes, and no part of a character.
std::string shortened(const std::string& text) {
  if (text.size() <= kMostOutput) return text;
  const std::string note = "…\n(cut off)";
  std::size_t end = kMostOutput - note.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + note;
}

/// A program that does not compile was not tested: the runners call that an error too.
bool is_error(const ExerciseGrade& grade) {
  return grade.outcome == Outcome::kError ||
         (grade.outcome == Outcome::kFail &&
          grade.result.verdict.failure->kind == FailureKind::kCompile);
}

Json test_of(const ExerciseGrade& grade, std::size_t task) {
  Json test;
  test["name"] = grade.exercise;
  test["test_code"] = fmt::format("./rankbox check {}", grade.exercise);
  test["status"] = is_error(grade) ? "error" : grade.outcome == Outcome::kPass ? "pass" : "fail";
  if (grade.outcome != Outcome::kPass) test["message"] = describe(grade);
  if (!grade.result.printed.empty()) test["output"] = shortened(grade.result.printed);
  test["task_id"] = task;
  return test;
}

}  // namespace

std::string to_exercism(const StudentGrade& student) {
  Json json;
  json["version"] = 3;
  json["status"] = "pass";
  Json tests = Json::array();
  std::string message;
  for (const ExerciseGrade& grade : student.exercises) {
    if (grade.outcome != Outcome::kPass && message.empty()) json["status"] = "fail";
    if (is_error(grade)) {
      json["status"] = "error";
      message += describe(grade);
    }
    tests.push_back(test_of(grade, tests.size() + 1));
  }
  if (!message.empty()) json["message"] = message;
  json["tests"] = std::move(tests);
  return json.dump(2) + "\n";
}

}  // namespace rankbox::cli
