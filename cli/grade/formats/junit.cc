#include <sstream>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <fmt/format.h>

#include "cli/grade/formats/formats.h"

namespace rankbox::cli {

namespace {

using Tree = boost::property_tree::ptree;

Tree case_of(const StudentGrade& student, const ExerciseGrade& grade) {
  Tree test;
  test.put("<xmlattr>.classname", student.id);
  test.put("<xmlattr>.name", grade.exercise);
  test.put("<xmlattr>.time", fmt::format("{:.3f}", grade.result.seconds));
  if (grade.outcome == Outcome::kPass) return test;
  Tree problem;
  const bool failed = grade.outcome == Outcome::kFail;
  problem.put("<xmlattr>.type", failed ? rankbox::name_of(grade.result.verdict.failure->kind)
                                       : name_of(grade.outcome));
  problem.put("<xmlattr>.message", reason(grade));
  problem.put_value(describe(grade, grade.file));
  test.add_child(grade.outcome == Outcome::kError ? "error" : "failure", problem);
  return test;
}

Tree suite_of(const StudentGrade& student) {
  Tree suite;
  int failures = 0;
  int errors = 0;
  for (const ExerciseGrade& grade : student.exercises) {
    if (grade.outcome == Outcome::kError) ++errors;
    if (grade.outcome != Outcome::kError && grade.outcome != Outcome::kPass) ++failures;
  }
  suite.put("<xmlattr>.name", student.id);
  suite.put("<xmlattr>.tests", student.exercises.size());
  suite.put("<xmlattr>.failures", failures);
  suite.put("<xmlattr>.errors", errors);
  suite.put("<xmlattr>.time", fmt::format("{:.3f}", student.seconds()));
  for (const ExerciseGrade& grade : student.exercises)
    suite.add_child("testcase", case_of(student, grade));
  return suite;
}

}  // namespace

std::string to_junit(const ClassReport& report) {
  Tree suites;
  suites.put("<xmlattr>.name", "rankbox");
  for (const StudentGrade& student : report.students)
    suites.add_child("testsuite", suite_of(student));
  Tree document;
  document.add_child("testsuites", suites);
  std::ostringstream out;
  boost::property_tree::write_xml(
      out, document, boost::property_tree::xml_writer_make_settings<std::string>(' ', 1));
  return out.str();
}

}  // namespace rankbox::cli
