#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/grade/formats/formats.h"

namespace rankbox::cli {

using Json = nlohmann::ordered_json;

namespace {

Json test_of(const ExerciseGrade& grade) {
  const bool graded = grade.outcome != Outcome::kError;
  const auto& failure = grade.result.verdict.failure;
  Json test;
  test["name"] = grade.exercise;
  test["status"] = !graded ? "error" : grade.outcome == Outcome::kPass ? "pass" : "fail";
  test["score"] = grade.points;
  test["message"] = describe(grade);
  test["test_code"] = fmt::format("./rankbox check {}", grade.exercise);
  test["filename"] = failure ? failure->file : grade.exercise + ".cc";
  test["line_no"] = failure ? failure->line : 0;
  test["duration"] = std::round(grade.result.seconds * 1000) / 1000;
  return test;
}

}  // namespace

std::string to_classroom50(const StudentGrade& student) {
  bool all_pass = true;
  Json tests = Json::array();
  for (const ExerciseGrade& grade : student.exercises) {
    all_pass = all_pass && grade.outcome == Outcome::kPass;
    tests.push_back(test_of(grade));
  }
  Json json;
  json["version"] = 1;
  json["status"] = !student.is_complete() ? "error" : all_pass ? "pass" : "fail";
  json["max_score"] = student.most();
  json["tests"] = std::move(tests);
  return json.dump(2) + "\n";
}

}  // namespace rankbox::cli
