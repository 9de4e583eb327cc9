// `rankbox grade`: which of a student's files counts, and in which form.
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <linux/capability.h>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exercises/registry.h"
#include "tests/cli/command.h"
#include "tests/cli/graded_class.h"
#include "tests/support/text.h"

namespace rankbox {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::contains;

Json graded(const std::string& folder) {
  const CommandResult result =
      rankbox({"grade", path_of(folder), "--unsealed", "--format", "json"});
  INFO(result.output);
  REQUIRE(result.exit_code == 0);
  return report_in(result.output);
}

/// Runs rankbox without what lets a superuser read every folder. Returns the exit code, or -1 if
/// the output lacks the text.
int exit_code_of_user(const std::vector<std::string>& arguments, const std::string& text) {
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE);  // fails for users, who do not have it
    prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH);
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2] = {};
    syscall(SYS_capset, &header, none);
    const CommandResult result = rankbox(arguments);
    _exit(contains(result.output, text) ? result.exit_code : 255);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) < 255 ? WEXITSTATUS(status) : -1;
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
  const Json report = graded("clones");
  CHECK(statuses(report) == std::set<std::string>{"ada ping_pong pass", "bob ping_pong pass"});
  for (const Json& student : report.at("students")) CHECK(student.at("remarks").empty());
}

TEST_CASE("students whose ids look the same when shown have different ids") {
  for (const char* folder : {"twins/a\x1b", "twins/a\\x1b", "twins/a\\x1b_"})
    hand_in(std::string(folder) + "/ping_pong.cc", "#error\n");
  std::set<std::string> ids;
  const Json report = graded("twins");
  for (const Json& student : report.at("students")) ids.insert(student.at("id").get<std::string>());
  CHECK(ids == std::set<std::string>{"a\\x1b", "a\\x1b_", "a\\x1b__"});
}

TEST_CASE("exercises that may be in a folder that cannot be read are not graded, and not missing") {
  hand_in("closed/ada/ping_pong.cc", "");
  hand_in("closed/bob/ping_pong.cc", std::string("\xff\xfe#\0", 4));  // needs no compiler
  hand_in("closed/bob/sub/exchange.cc", "");
  hand_in("closed/dan/notes.txt", "");
  const std::vector<std::string> closed = {path_of("closed/ada"), path_of("closed/bob/sub")};
  for (const std::string& folder : closed) fs::permissions(folder, fs::perms::none);
  const std::string out = path_of("closed.json");
  CHECK(exit_code_of_user({"grade", path_of("closed"), "--unsealed", "--exercises",
                           "ping_pong,exchange", "--format", "json", "--out", out},
                          "not graded, by no fault of a student: 3") == 1);
  CHECK(exit_code_of_user({"grade", closed[0], "--unsealed", "--layout", "single"},
                          "Permission denied") == 2);
  for (const std::string& folder : closed) fs::permissions(folder, fs::perms::owner_all);

  const Json report = Json::parse(read_file("tmp/closed.json"));
  CHECK(statuses(report) == std::set<std::string>{"ada ping_pong error", "ada exchange error",
                                                  "bob ping_pong fail", "bob exchange error",
                                                  "dan ping_pong missing", "dan exchange missing"});
  const Json& ada = report.at("students").at(0);
  CHECK(ada.at("points").is_null());
  CHECK(contains(ada.at("exercises").at(0).at("reason"), "ada: Permission denied"));
  CHECK(contains(ada.at("remarks").at(0), "ada: Permission denied"));
}

TEST_CASE("a class whose folder is not named in UTF-8 has a report") {
  hand_in("class\xff/ada/ping_pong.cc", solution("ping_pong"));
  CHECK(graded("class\xff").at("title") == "class\\xff");
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

TEST_CASE("a header that is left out is one line of the student's, with the reason") {
  struct Row {
    const char* student;
    std::function<void(const std::string&)> write;  // the header, below tmp/
    const char* reason;
  };
  const std::vector<Row> rows = {
      {"device", [](const auto& header) { mkfifo(path_of(header).c_str(), 0600); }, "not a file"},
      {"large", [](const auto& header) { hand_in(header, std::string((1 << 20) + 1, ' ')); },
       "larger than 1 MiB"},
      {"link", [](const auto& header) { fs::create_symlink("other.txt", path_of(header)); },
       "a symbolic link"},
      {"right", [](const auto& header) { hand_in(header, ""); }, nullptr},
      {"utf", [](const auto& header) { hand_in(header, std::string("\xff\xfe#\0", 4)); }, "UTF-16"},
  };
  for (const Row& row : rows) {
    const std::string folder = std::string("left_out/") + row.student;
    for (const char* name : {"ping_pong.cc", "exchange.cc"})  // one line for both
      hand_in(folder + "/" + name, "#error\n");
    row.write(folder + "/a\nb.h");
  }
  const Json report = graded("left_out");
  REQUIRE(report.at("students").size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Json& student = report.at("students")[i];
    CAPTURE(student);
    CHECK(student.at("id") == rows[i].student);
    REQUIRE(student.at("remarks").size() == (rows[i].reason == nullptr ? 0 : 1));
    if (rows[i].reason == nullptr) continue;
    const auto line = student.at("remarks")[0].get<std::string>();
    CHECK(line.starts_with("a\\x0ab.h is left out: "));
    CHECK(contains(line, rows[i].reason));
  }
}

}  // namespace rankbox
