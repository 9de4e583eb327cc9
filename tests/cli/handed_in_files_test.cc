// `rankbox grade`: which of a student's files counts, and in which form.
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "exercises/registry.h"
#include "tests/cli/command.h"
#include "tests/support/text.h"

namespace rankbox {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::contains;

std::string solution(const std::string& name) {
  return read_file(solution_path(*find_exercise(name)));
}

/// Adds a file to a class below the project's tmp/.
void hand_in(const std::string& path, const std::string& text) {
  const fs::path file = fs::path(project()) / "tmp" / path;
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

Json graded(const std::string& folder) {
  const CommandResult result = rankbox(
      {"grade", (fs::path(project()) / "tmp" / folder).string(), "--unsealed", "--format", "json"});
  INFO(result.output);
  REQUIRE(result.exit_code == 0);
  return Json::parse(result.output);
}

/// Returns "ada exchange pass", … of a report.
std::set<std::string> statuses(const Json& report) {
  std::set<std::string> all;
  for (const Json& student : report.at("students")) {
    for (const Json& one : student.at("exercises")) {
      all.insert(student.at("id").get<std::string>() + " " + one.at("exercise").get<std::string>() +
                 " " + one.at("status").get<std::string>());
    }
  }
  return all;
}

}  // namespace

TEST_CASE("a clone's untouched stub does not stand for the solved file beside it") {
  std::string stub = read_file(stub_path(*find_exercise("ping_pong")));
  hand_in("clones/ada/exercises/01_ranks_and_races/ping_pong.cc", stub);
  hand_in("clones/ada/ping_pong.cc", solution("ping_pong"));
  for (std::size_t at = 0; (at = stub.find('\n', at)) != std::string::npos; at += 2)
    stub.insert(at, "\r");
  hand_in("clones/bob/exercises/01_ranks_and_races/ping_pong.cc", stub);
  hand_in("clones/bob/homework/ping_pong.cc", solution("ping_pong"));
  CHECK(statuses(graded("clones")) ==
        std::set<std::string>{"ada ping_pong pass", "bob ping_pong pass"});
}

TEST_CASE("what is saved in another encoding fails with one line, and helpers may end in .inc") {
  const std::string marked("\xff\xfe#\0i\0", 6);
  hand_in("texts/ada/ping_pong.cc", marked);
  hand_in("texts/bob/ping_pong.cc", "#include \"helper.inc\"\n");
  hand_in("texts/bob/helper.inc", solution("ping_pong"));
  const Json report = graded("texts");
  CHECK(statuses(report) == std::set<std::string>{"ada ping_pong fail", "bob ping_pong pass"});
  const Json failure =
      report.at("students").at(0).at("exercises").at(0).at("verdict").at("failure");
  CHECK(failure.at("kind") == "compile");
  CHECK(contains(failure.at("message"), "UTF-16"));
}

}  // namespace rankbox
