// `rankbox grade`: a class that has every kind of mess at once.
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cli/support/container.h"
#include "exercises/registry.h"
#include "tests/cli/command.h"
#include "tests/cli/graded_class.h"
#include "tests/support/run_tests.h"
#include "tests/support/text.h"

namespace rankbox {
namespace {

using Json = nlohmann::json;
using testing::contains;
using testing::lacks;

const std::string kCommand = "::error::hacked";

/// Returns whether a line of the text is a command for GitHub's runner.
bool has_command(const std::string& text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::size_t front = text.find_first_not_of(" \t", begin);
    if (front < end && text.compare(front, 2, "::") == 0) return true;
    begin = end + 1;
  }
  return false;
}

void hand_in_messy_class() {
  const std::string solved = solution("ping_pong");
  // A clone, with the solved file beside the untouched stub and many files of the student's own.
  hand_in("messy/ada/exercises/01_ranks_and_races/ping_pong.cc",
          read_file(stub_path(*find_exercise("ping_pong"))));
  hand_in("messy/ada/ping_pong.cc", solved);
  for (int i = 0; i < 30; ++i) hand_in("messy/ada/own" + std::to_string(i) + ".cc", "");
  hand_in("messy/ada/Exchange.CC", "");
  // Helpers.
  hand_in("messy/bob/ping_pong.cc", "#include \"a.hh\"\n#include \"b.inc\"\n" + solved);
  hand_in("messy/bob/a.hh", "#pragma once\n");
  hand_in("messy/bob/b.inc", "\n");
  hand_in("messy/bob/exchange.cc.txt", "");
  hand_in("messy/bob/old.zip", "");
  // Names and messages that a CI would read as commands in its log.
  hand_in("messy/eve\n" + kCommand + "/ping_pong.cc", "#error x\n" + kCommand + "\n");
  hand_in("messy/" + kCommand + "/ping_pong.cc",
          "#include \"collectives/ping_pong.h\"\n#include <cstdio>\n#include <stdexcept>\n"
          "namespace rankbox {\nvoid ping_pong(Comm&, Tensor&, int) {\n  std::puts(\"\\n" +
              kCommand + "\");\n  throw std::runtime_error(\"a\\n" + kCommand + "\");\n}\n}\n");
  // Other encodings, and too many headers.
  hand_in("messy/utf/ping_pong.cc", std::string("\xff\xfe#\0i\0", 6));
  hand_in("messy/wide/ping_pong.cc", solved);
  for (int i = 0; i < 65; ++i) hand_in("messy/wide/h" + std::to_string(i) + ".h", "");
  hand_in("messy/＝1+1/ping_pong.cc", solved);
  // No students.
  hand_in("messy/__MACOSX/ada/._ping_pong.cc", "");
  hand_in("messy/.zoe/ping_pong.cc", solved);
  hand_in("messy/ping_pong.cc", solved);
  hand_in("messy/late.tar", "");
}

}  // namespace

TEST_CASE("a messy class is graded, and what is ignored is said") {
  hand_in_messy_class();
  const CommandResult table = rankbox({"grade", path_of("messy"), "--unsealed"});
  INFO(table.output);
  CHECK(table.exit_code == 0);
  CHECK(!has_command(table.output));
  CHECK(lacks(table.output, {"late.tar is packed", ".zoe is hidden", "ping_pong.cc is not graded",
                             "Exchange.CC is no C++ file", "exchange.cc.txt is no C++ file",
                             "old.zip is packed"}) == "");
  CHECK(!contains(table.output, "MACOSX"));

  const auto written = [](const std::string& format) {
    const std::string out = "messy." + format;
    const CommandResult result = rankbox(
        {"grade", path_of("messy"), "--unsealed", "--format", format, "--out", path_of(out)});
    INFO(result.output);
    CHECK(result.exit_code == 0);
    return read_file("tmp/" + out);
  };
  const Json report = Json::parse(written("json"));
  const std::set<std::string> expected = {"\\x3a:error::hacked ping_pong fail",
                                          "ada ping_pong pass",
                                          "bob ping_pong pass",
                                          "eve\\x0a\\x3a:error::hacked ping_pong fail",
                                          "utf ping_pong fail",
                                          "wide ping_pong fail",
                                          "＝1+1 ping_pong pass"};
  CHECK(statuses(report) == expected);
  CHECK(lacks(report.dump(), {"saved as UTF-16", "beside more than 64 headers"}) == "");
  for (const Json& student : report.at("students")) {
    CHECK(student.at("remarks").size() <= 21);
    for (const Json& one : student.at("exercises")) {
      for (const char* text : {"reason", "printed", "compiler_output"})
        CHECK(!has_command(one.at(text)));
    }
  }
  CHECK(contains(written("csv"), "\"'＝1+1\""));
  CHECK(!has_command(written("junit")));
  CHECK(contains(read_file("tmp/messy.junit"), "\\x3a:error::hacked"));
  for (const char* format : {"gradescope", "classroom50"}) {
    const CommandResult result = rankbox(
        {"grade", path_of("messy"), "--unsealed", "--format", format, "--out", path_of(format)});
    CHECK(result.exit_code == 0);
  }
  const Json eve = Json::parse(read_file("tmp/classroom50/\\x3a:error::hacked/result.json"));
  CHECK(!has_command(eve.at("tests").at(0).at("message")));
  const Json ours = Json::parse(read_file("tmp/gradescope/\\x3a:error::hacked/results.json"));
  CHECK(!has_command(ours.at("tests").at(0).at("output")));
}

TEST_CASE("a check beside too many headers says so") {
  if (!cli::container_problem().empty()) return testing::pass_over(cli::container_problem());
  hand_in("headers/ping_pong.cc", solution("ping_pong"));
  for (int i = 0; i < 65; ++i) hand_in("headers/h" + std::to_string(i) + ".h", "");
  const CommandResult result =
      rankbox({"check", "ping_pong", "--file", path_of("headers/ping_pong.cc"), "--sealed"});
  INFO(result.output);
  CHECK(result.exit_code != 0);
  CHECK(contains(result.output, "more than 64 headers"));
}

}  // namespace rankbox
