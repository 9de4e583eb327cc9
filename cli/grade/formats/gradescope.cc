#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/grade/formats/formats.h"

namespace rankbox::cli {

using Json = nlohmann::ordered_json;

namespace {

Json test_of(const ExerciseGrade& grade, std::size_t number) {
  const bool graded = grade.outcome != Outcome::kError;
  Json test;
  if (graded) test["score"] = grade.points;
  test["max_score"] = grade.most;
  if (graded) test["status"] = grade.outcome == Outcome::kPass ? "passed" : "failed";
  test["name"] = graded ? grade.exercise : grade.exercise + " (not graded)";
  test["name_format"] = "text";
  test["number"] = std::to_string(number);
  test["output"] = describe(grade);
  test["output_format"] = "text";
  test["tags"] = Json::array({name_of(grade.outcome)});
  test["visibility"] = "visible";
  test["extra_data"] = {{"outcome", name_of(grade.outcome)}, {"days_late", grade.days_late}};
  return test;
}

}  // namespace

std::string to_gradescope(const StudentGrade& student, const ClassReport& report) {
  Json json;
  // Without it, Gradescope takes the sum of the tests that have a score.
  if (student.is_complete()) json["score"] = student.points();
  json["execution_time"] = std::lround(student.seconds());
  std::vector<std::string> output = student.remarks;
  if (!student.is_complete())
    output.insert(output.begin(), "Some exercises were not graded, by no fault of yours.");
  json["output"] = fmt::format("{}", fmt::join(output, "\n"));
  json["output_format"] = "text";
  json["test_output_format"] = "text";
  json["test_name_format"] = "text";
  json["visibility"] = "visible";
  json["stdout_visibility"] = "hidden";
  json["extra_data"] = {{"student", student.id}, {"sealed", report.sealed}};
  json["tests"] = Json::array();
  for (const ExerciseGrade& grade : student.exercises)
    json["tests"].push_back(test_of(grade, json["tests"].size() + 1));
  return json.dump(2) + "\n";
}

}  // namespace rankbox::cli
