// The formats that other programs read.
#include <set>
#include <sstream>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cli/grade/class_report.h"
#include "cli/grade/formats/formats.h"
#include "cli/grade/output.h"
#include "cli/grade/result.h"
#include "cli/grade/summary.h"
#include "tests/support/text.h"

namespace rankbox::cli {
namespace {

using Json = nlohmann::json;
using testing::contains;

const std::string kName = R"(=cmd|' /C calc'!A0, "Ada" </script>)";

ExerciseGrade grade_of(const std::string& exercise, Outcome outcome) {
  ExerciseGrade grade;
  grade.exercise = exercise;
  grade.outcome = outcome;
  grade.most = 4;
  if (outcome == Outcome::kMissing) return grade;
  grade.file = "class/ada/" + exercise + ".cc";
  grade.result.seconds = 1.25;
  if (outcome == Outcome::kPass) {
    grade.points = 4;
    grade.result.verdict = undecided(exercise);
    return grade;
  }
  Failure failure;
  failure.kind = FailureKind::kDeadlock;
  failure.rank = 1;
  failure.file = exercise + ".cc";
  failure.line = 12;
  failure.message = "a <b> & ]]> \"c\"\nsecond line";
  failure.replay = "./rankbox check " + exercise + " --file FILE --replay world_size=2";
  grade.result.verdict = failed_before_running(exercise, failure);
  grade.result.verdict.status = outcome == Outcome::kFail             ? Status::kFail
                                : outcome == Outcome::kNotImplemented ? Status::kNotImplemented
                                                                      : Status::kError;
  if (outcome == Outcome::kFail) {
    grade.points = 1.6;
    grade.days_late = 2;
    grade.result.printed = std::string(600, 'x') + "</script>";
    grade.result.picture = "rank 0 [→1]";
    grade.result.waits = R"({"cycle": [0, 1], "waits": []})";
  }
  return grade;
}

/// A student of every outcome in turn, and one who is done.
ClassReport report_of_two() {
  ClassReport report;
  report.title = "class";
  report.salt = 77;
  const Outcome outcomes[] = {Outcome::kPass, Outcome::kFail, Outcome::kNotImplemented,
                              Outcome::kMissing, Outcome::kError};
  StudentGrade ada{.id = "ada", .name = kName, .number = "0042", .email = "+ada@x.org"};
  StudentGrade bob{.id = "bob", .name = "bob"};
  for (std::size_t i = 0; i < std::size(outcomes); ++i) {
    const Exercise& exercise = exercises()[i];
    report.exercises.push_back(&exercise);
    ada.exercises.push_back(grade_of(exercise.name, outcomes[i]));
    bob.exercises.push_back(grade_of(exercise.name, Outcome::kPass));
  }
  report.students = {ada, bob};
  return report;
}

std::set<std::string> keys_of(const Json& json) {
  std::set<std::string> names;
  for (const auto& [name, value] : json.items()) names.insert(name);
  return names;
}

}  // namespace

TEST_CASE("Gradescope's results.json") {
  const ClassReport report = report_of_two();
  const Json ada = Json::parse(to_gradescope(report.students[0], report));
  const Json bob = Json::parse(to_gradescope(report.students[1], report));
  CHECK(bob.at("score") == 20);
  CHECK(!ada.contains("score"));  // not all of it is graded
  CHECK(ada.at("execution_time") == 5);
  const Json& tests = ada.at("tests");
  REQUIRE(tests.size() == 5);
  const std::set<std::string> allowed = {"score",       "max_score",  "status",    "name",
                                         "name_format", "number",     "output",    "output_format",
                                         "tags",        "visibility", "extra_data"};
  for (const Json& test : tests)
    for (const std::string& field : keys_of(test)) CHECK(allowed.contains(field));
  const char* statuses[] = {"passed", "failed", "failed", "failed", ""};
  for (std::size_t i = 0; i < tests.size(); ++i) CHECK(tests[i].value("status", "") == statuses[i]);
  CHECK(tests[1].at("score") == 1.6);
  CHECK(contains(tests[1].at("output"), "second line"));
  CHECK(contains(tests[1].at("output"), "late, on day 2"));
  CHECK(!contains(tests[1].at("output"), "FILE"));
  CHECK(!tests[4].contains("score"));
}

TEST_CASE("where a file is missing, one whose name is nearly right is named") {
  const ExerciseGrade grade{.exercise = "race", .near_miss = "Race.CC is no C++ file by its name"};
  CHECK(contains(reason(grade), "no file was handed in; Race.CC"));
  CHECK(reason({.exercise = "race"}) == "no file was handed in");
}

TEST_CASE("Exercism's results.json") {
  const ClassReport report = report_of_two();
  const Json ada = Json::parse(to_exercism(report.students[0]));
  CHECK(ada.at("version") == 3);
  CHECK(ada.at("status") == "error");
  CHECK(ada.contains("message"));
  const char* statuses[] = {"pass", "fail", "fail", "fail", "error"};
  for (std::size_t i = 0; i < 5; ++i) {
    const Json& test = ada.at("tests").at(i);
    CHECK(test.at("status") == statuses[i]);
    CHECK(test.contains("message") == (i > 0));
    CHECK(test.value("output", "").size() <= 500);
  }
  CHECK(Json::parse(to_exercism(report.students[1])).at("status") == "pass");

  StudentGrade student{.id = "x", .name = "x"};
  student.exercises = {grade_of("race", Outcome::kFail)};
  CHECK(Json::parse(to_exercism(student)).at("status") == "fail");
  student.exercises[0].result.verdict.failure->kind = FailureKind::kCompile;
  CHECK(Json::parse(to_exercism(student)).at("status") == "error");
}

TEST_CASE("GitHub Classroom's result.json") {
  const ClassReport report = report_of_two();
  const Json ada = Json::parse(to_classroom50(report.students[0]));
  CHECK(ada.at("version") == 1);
  CHECK(ada.at("status") == "error");
  CHECK(ada.at("max_score") == 20);
  const char* statuses[] = {"pass", "fail", "fail", "fail", "error"};
  for (std::size_t i = 0; i < 5; ++i) CHECK(ada.at("tests").at(i).at("status") == statuses[i]);
  const Json& failed = ada.at("tests").at(1);
  CHECK(keys_of(failed) == std::set<std::string>{"name", "status", "score", "message", "test_code",
                                                 "filename", "line_no", "duration"});
  CHECK(failed.at("line_no") == 12);
  CHECK(Json::parse(to_classroom50(report.students[1])).at("status") == "pass");
}

TEST_CASE("JUnit's XML") {
  std::istringstream text(to_junit(report_of_two()));
  boost::property_tree::ptree tree;
  boost::property_tree::read_xml(text, tree);
  int cases = 0;
  int failures = 0;
  int errors = 0;
  for (const auto& [name, suite] : tree.get_child("testsuites")) {
    if (name != "testsuite") continue;
    CHECK(suite.get<int>("<xmlattr>.tests") == 5);
    for (const auto& [tag, test] : suite) {
      if (tag != "testcase") continue;
      ++cases;
      failures += static_cast<int>(test.count("failure"));
      errors += static_cast<int>(test.count("error"));
      if (test.get("failure.<xmlattr>.type", "") == "deadlock") {
        CHECK(contains(test.get<std::string>("failure"), "a <b> & ]]> \"c\""));
        CHECK(contains(test.get<std::string>("failure"), "--file class/ada/"));
      }
    }
  }
  CHECK(cases == 10);
  CHECK(failures == 3);
  CHECK(errors == 1);
}

TEST_CASE("CSV quotes, and is no formula") {
  const std::string csv = to_csv(report_of_two());
  std::istringstream lines(csv);
  std::string heading, ada, bob;
  std::getline(lines, heading);
  std::getline(lines, ada);
  std::getline(lines, bob);
  CHECK(heading.starts_with("Student,ID,SIS User ID,SIS Login ID,Section,\"race\","));
  CHECK(heading.ends_with(",Total\r"));
  CHECK(ada.starts_with(R"("'=cmd|' /C calc'!A0, ""Ada"" </script>","0042",,"'+ada@x.org",,)"));
  CHECK(ada.ends_with(",4,1.6,0,0,,\r"));  // no grade and no total where one is missing
  CHECK(bob == "\"bob\",\"bob\",,\"\",,4,4,4,4,4,20\r");
}

TEST_CASE("a name in full-width signs is no formula either") {
  ClassReport report = report_of_two();
  for (const char* front : {"＝", "＋", "－", "＠", "\t="}) {
    report.students[1].name = std::string(front) + "1+1";
    CHECK(to_csv(report).find(std::string("\n\"'") + front) != std::string::npos);
  }
}

TEST_CASE("totals are sums of what is shown") {
  ClassReport report = report_of_two();
  StudentGrade& bob = report.students[1];
  for (ExerciseGrade& grade : bob.exercises) grade.points = 0;
  bob.exercises[0].points = 0.1;
  bob.exercises[1].points = 0.2;
  CHECK(bob.points() == 0.3);
  CHECK(Json::parse(to_json(report)).at("students").at(1).at("points").dump() == "0.3");
}

TEST_CASE("JSON has everything") {
  const Json json = Json::parse(to_json(report_of_two()));
  CHECK(json.at("salt") == 77);
  const Json& exercises = json.at("students").at(0).at("exercises");
  const char* statuses[] = {"pass", "fail", "not_implemented", "missing", "error"};
  for (std::size_t i = 0; i < 5; ++i) CHECK(exercises.at(i).at("status") == statuses[i]);
  CHECK(exercises.at(1).at("verdict").at("failure").at("rank") == 1);
  CHECK(exercises.at(1).at("waits").at("cycle").size() == 2);
  CHECK(exercises.at(0).at("waits").is_null());
  CHECK(exercises.at(3).at("points") == 0);
  CHECK(exercises.at(4).at("points").is_null());
  CHECK(json.at("students").at(0).at("points").is_null());
  CHECK(json.at("students").at(1).at("points") == 20);
}

TEST_CASE("the page holds the grades, and no text in it ends its script") {
  const std::string page = to_html(report_of_two());
  const std::string begin = "<script type=\"application/json\" id=\"grades\">";
  const std::size_t from = page.find(begin) + begin.size();
  REQUIRE(page.find(begin) != std::string::npos);
  const Json json = Json::parse(page.substr(from, page.find("</script>", from) - from));
  CHECK(json.at("students").at(0).at("name") == kName);
  CHECK(!contains(page, "{{"));
  CHECK(!contains(page, "src=\"http"));
}

TEST_CASE("the page has equal code once, as text, and no more of it than it has room for") {
  ClassReport report = report_of_two();
  const std::string line = "</script>{{grades}}\n";
  for (StudentGrade& student : report.students)
    student.exercises[1].code = {.file = "x.cc", .text = line, .first = 1, .lines = 1};
  const auto codes = [&] {
    const std::string page = to_html(report);
    const std::string begin = "<script type=\"application/json\" id=\"codes\">";
    REQUIRE(page.find(begin) != std::string::npos);
    const std::size_t from = page.find(begin) + begin.size();
    return Json::parse(page.substr(from, page.find("</script>", from) - from));
  };
  const Json one = codes();
  REQUIRE(one.at("texts").size() == 1);
  CHECK(one.at("texts").at(0).at("text") == line);
  CHECK(one.at("of").dump() == "[[null,0,null,null,null],[null,0,null,null,null]]");

  for (ExerciseGrade& grade : report.students[0].exercises)
    grade.code = {
        .file = grade.exercise, .text = std::string(5 << 20, 'x'), .first = 1, .lines = 1};
  CHECK(codes().at("of").dump() == "[[0,1,2,null,null],[null,3,null,null,null]]");
}

TEST_CASE("the summary has a line a student, and says what is not graded") {
  const ClassReport report = report_of_two();
  const std::string text = summary_of(report);
  CHECK(contains(text, "✓ ✗ ○ – !   not all graded, 1 late\n"));
  CHECK(contains(text, "bob                     ✓ ✓ ✓ ✓ ✓   20 of 20\n"));
  CHECK(contains(text, "by no fault of a student: 1"));

  CHECK(!contains(text, "files that were not graded"));
  ClassReport remarked = report;
  remarked.students[0].remarks = {"one", "two", "three", "four"};
  remarked.students[1].remarks = {"race.cxx is no C++ file"};
  const std::string with_remarks = summary_of(remarked);
  for (const char* part : {": three\n", ": … more (", "  bob: race.cxx is no C++ file\n"})
    CHECK(contains(with_remarks, part));
  CHECK(!contains(with_remarks, "four"));

  ClassReport large = report;
  large.students.resize(200, report.students[1]);
  CHECK(contains(summary_of(large), "140 more students"));
}

TEST_CASE("a name that no file may have is cut between characters, and stays different") {
  CHECK(file_name_of("ada") == "ada");
  std::string umlauts;
  for (int i = 0; i < 150; ++i) umlauts += "ü";
  const std::string one = file_name_of("x" + umlauts + "1");
  CHECK(one.size() < 255);
  CHECK(one.starts_with("xü"));
  CHECK(one.substr(0, one.size() - 13).ends_with("ü"));
  CHECK(one != file_name_of("x" + umlauts + "2"));
}

TEST_CASE("a replay line names the student's file") {
  const Verdict verdict = grade_of("race", Outcome::kFail).result.verdict;
  const auto line = [&](const std::string& path) {
    return with_replay(verdict, path).failure->replay;
  };
  CHECK(line("") == "./rankbox check race --replay world_size=2");
  CHECK(line("a/b.cc") == "./rankbox check race --file a/b.cc --replay world_size=2");
  CHECK(line("it's; rm") == "./rankbox check race --file 'it'\\''s; rm' --replay world_size=2");
}

}  // namespace rankbox::cli
