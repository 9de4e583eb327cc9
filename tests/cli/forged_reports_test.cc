// `rankbox grade` beside programs that forge what the judge's process reports, or what it draws.
//
// A program cannot forge the referee's verdict, so those here tell the judge's process apart from a
// rank's (whose descriptor 3 is no pipe), and forge there.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/support/container.h"
#include "tests/cli/command.h"
#include "tests/cli/graded_class.h"
#include "tests/support/run_tests.h"
#include "tests/support/text.h"

namespace rankbox {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::contains;

constexpr const char* kWrong = "void broadcast_naive(Comm&, Tensor&, int) {}";
constexpr const char* kRight = R"(
void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (dist.rank() != src) return dist.recv(tensor, src);
  for (int rank = 0; rank < dist.world_size(); ++rank)
    if (rank != src) dist.send(tensor, rank);
})";

/// Returns a program that runs `statements` in the judge's process before its function.
std::string program(const std::string& statements, const char* function) {
  return fmt::format(R"(#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "collectives/broadcast_naive.h"

namespace {{
void report(const std::string& text) {{
  for (std::size_t sent = 0; sent < text.size();) {{
    const ssize_t wrote = write(3, text.data() + sent, text.size() - sent);
    if (wrote <= 0) return;
    sent += static_cast<std::size_t>(wrote);
  }}
}}
__attribute__((constructor)) void forge() {{
  struct stat status = {{}};
  if (fstat(3, &status) != 0 || !S_ISFIFO(status.st_mode)) return;
  {}
  _exit(0);
}}
}}  // namespace
namespace rankbox {{
{}
}}  // namespace rankbox
)",
                     statements, function);
}

/// Returns the statement that reports this verdict.
std::string reports(const Json& verdict) {
  return fmt::format("report(R\"~(verdict {}\n)~\");", verdict.dump());
}

Json checks(const char* status) {
  Json all = Json::array();
  for (const char* name : {"values", "messages", "cost", "safety"})
    all.push_back(
        {{"name", name}, {"status", status}, {"expected", ""}, {"actual", ""}, {"detail", ""}});
  return all;
}

Json failure() {
  return {{"kind", "memory"}, {"rank", 0}, {"peer", -1},          {"op", "FORGED"},
          {"file", "FORGED"}, {"line", 1}, {"message", "FORGED"}, {"replay", "FORGED; exit"}};
}

Json verdict(const char* status, const char* of_checks) {
  return {{"name", "broadcast_naive"}, {"status", status}, {"checks", checks(of_checks)}};
}

Json verdict_of_failure(const char* status, const char* of_checks) {
  Json json = verdict(status, of_checks);
  json["failure"] = failure();
  return json;
}

Json with(Json json, const char* pointer, const Json& value) {
  json[Json::json_pointer(pointer)] = value;
  return json;
}

struct Forgery {
  std::string name;
  std::string statements;
};

std::vector<Forgery> forgeries() {
  const Json one_fails = with(verdict_of_failure("fail", "pass"), "/checks/2/status", "fail");
  return {
      {"all_pass_but_fail", reports(verdict_of_failure("fail", "pass"))},
      {"one_fails", reports(one_fails)},
      {"error", reports(verdict_of_failure("error", "skipped"))},
      {"not_implemented", reports(verdict_of_failure("not_implemented", "skipped"))},
      {"no_failure", reports(verdict("fail", "pass"))},
      {"another_name", reports(with(verdict("pass", "pass"), "/name", "ping_pong"))},
      {"other_checks", reports(with(one_fails, "/checks/0/name", "FORGED"))},
      {"rank_is_a_text", reports(with(one_fails, "/failure/rank", "FORGED"))},
      {"line_is_huge", reports(with(one_fails, "/failure/line", 1e300))},
      {"nested",
       "report(\"verdict \" + std::string(20'000, '[') + std::string(20'000, ']') + "
       "\"\\n\");"},
      {"long_message", "std::string text = R\"~(verdict " + one_fails.dump() +
                           ")~\"; text.insert(text.find(\"FORGED\"), 15'000'000, 'x'); "
                           "report(text + \"\\n\");"},
      {"no_utf8", "std::string text = R\"~(verdict " + one_fails.dump() +
                      ")~\"; text.replace(text.find(\"FORGED\"), 2, \"\\xff\\x1b\"); "
                      "report(text + \"\\n\");"},
      {"replay", reports(with(one_fails, "/failure/replay",
                              "./rankbox check broadcast_naive --replay "
                              "world_size=2,root=0,count=1 ; FORGED"))},
      {"case_and_crash", "report(\"case FORGED; exit\\n\"); __builtin_trap();"},
      {"stopped",
       "report(\"stopped exit 7 rank 99999999999 at --FORGED 12\\n\"); __builtin_trap();"},
      {"place", reports(with(one_fails, "/failure/line", 0)) + "report(\"at -f FORGED\\n\");"},
      {"mistake", "report(\"mistake FORGED\\n\");"},
      {"nothing", ""},
  };
}

void hand_in_forged(const std::string& student, const std::string& text) {
  hand_in("forged/" + student + "/broadcast_naive.cc", text);
}

/// Returns the report of the class in that format. What was graded before is kept.
std::string graded(const std::string& format) {
  const std::string out = path_of(format + ".out");
  const CommandResult result = rankbox({"grade", path_of("forged"), "--state",
                                        path_of("forged.jsonl"), "--format", format, "--out", out});
  INFO(format, ": ", result.output);
  CHECK(result.exit_code == 0);  // 1: "not graded, by no fault of a student"
  if (fs::is_directory(out)) return "";
  return read_file("tmp/" + format + ".out");
}

}  // namespace

TEST_CASE("forged reports earn no point, and crash and hang nothing") {
  if (const std::string problem = cli::container_problem(); !problem.empty())
    return testing::pass_over_without_containers(problem);
  for (std::size_t row = 0; const Forgery& each : forgeries()) {
    if (!testing::is_to_run(row++)) continue;
    hand_in_forged("right_" + each.name, program(each.statements, kRight));
    hand_in_forged("wrong_" + each.name, program(each.statements, kWrong));
  }
  hand_in_forged("wrong_pass", program(reports(verdict("pass", "pass")), kWrong));
  hand_in_forged("honest", program("return;", kRight));

  const Json report = Json::parse(graded("json"));
  for (const Json& student : report.at("students")) {
    const Json& grade = student.at("exercises").at(0);
    const std::string id = student.at("id");
    CAPTURE(id);
    CAPTURE(grade.at("verdict").dump().substr(0, 2000));
    const bool is_honest = id == "honest";
    CHECK(grade.at("status") == (is_honest ? "pass" : "fail"));
    CHECK((student.at("points") > 0) == is_honest);
    CHECK(grade.dump().size() < 20'000);
    if (is_honest) continue;
    CHECK(!contains(grade.dump(), "FORGED"));
    // The command is ours, also where the process sends one.
    CHECK(!contains(grade.at("verdict").at("failure").at("replay"), ";"));
  }
  for (const char* format : {"junit", "csv", "gradescope", "exercism", "classroom50"})
    CHECK(!contains(graded(format), "FORGED"));
}

TEST_CASE("what a program leaves in place of its picture is not read") {
  if (const std::string problem = cli::container_problem(); !problem.empty())
    return testing::pass_over_without_containers(problem);
  std::ofstream(fs::path(project()) / "secret") << "SECRET";
  const std::string secret = (fs::path(project()) / "secret").string();
  const std::string in_each_folder =
      "for (const auto& each : std::filesystem::directory_iterator(\"/tmp\")) {{ const auto at = "
      "each.path() / \"timeline.txt\"; unlink(at.c_str()); {}; }}";
  const Forgery table[] = {
      {"link", fmt::format("(void)!symlink(\"{}\", at.c_str())", secret)},
      {"endless", "(void)!symlink(\"/dev/zero\", at.c_str())"},
      {"pipe", "mkfifo(at.c_str(), 0600)"},
  };
  fs::remove_all(fs::path(project()) / "tmp/forged");
  for (const Forgery& each : table)
    hand_in_forged(each.name,
                   program(fmt::format(fmt::runtime(in_each_folder), each.statements), kWrong));
  const std::string page = graded("html");
  CHECK(contains(page, "broadcast_naive"));
  CHECK(!contains(page, "SECRET"));
}

}  // namespace rankbox
