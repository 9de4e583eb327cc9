#include <nlohmann/json.hpp>

#include "cli/grade/formats/formats.h"
#include "cli/grade/result.h"
#include "judge/verdict_json.h"

namespace rankbox::cli {

using Json = nlohmann::ordered_json;

namespace {

Json exercise_of(const ExerciseGrade& grade) {
  Json json;
  json["exercise"] = grade.exercise;
  json["status"] = name_of(grade.outcome);
  json["points"] = grade.outcome == Outcome::kError ? Json() : Json(grade.points);
  json["max_points"] = grade.most;
  json["days_late"] = grade.days_late;
  json["reason"] = reason(grade);
  json["file"] = grade.file;
  json["seconds"] = grade.result.seconds;
  json["verdict"] = Json();
  if (!grade.file.empty())
    json["verdict"] = Json::parse(to_json(with_replay(grade.result.verdict, grade.file)));
  json["printed"] = grade.result.printed;
  json["compiler_output"] = grade.result.compiler_output;
  json["picture"] = grade.result.picture;
  json["waits"] = grade.result.waits.empty() ? Json() : Json::parse(grade.result.waits);
  return json;
}

Json student_of(const StudentGrade& student) {
  Json json;
  json["id"] = student.id;
  json["name"] = student.name;
  json["number"] = student.number;
  json["email"] = student.email;
  json["points"] = student.is_complete() ? Json(student.points()) : Json();
  json["max_points"] = student.most();
  json["remarks"] = student.remarks;
  json["exercises"] = Json::array();
  for (const ExerciseGrade& grade : student.exercises)
    json["exercises"].push_back(exercise_of(grade));
  return json;
}

}  // namespace

std::string to_json(const ClassReport& report) {
  Json json;
  json["title"] = report.title;
  json["sealed"] = report.sealed;
  json["salt"] = report.salt == 0 ? Json() : Json(report.salt);
  json["exercises"] = Json::array();
  for (const Exercise* exercise : report.exercises) {
    json["exercises"].push_back({{"name", exercise->name},
                                 {"chapter", chapter_of(*exercise).folder},
                                 {"summary", exercise->summary}});
  }
  json["students"] = Json::array();
  for (const StudentGrade& student : report.students)
    json["students"].push_back(student_of(student));
  return json.dump(2) + "\n";
}

}  // namespace rankbox::cli
