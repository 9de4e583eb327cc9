// However a measuring process ends, the table is complete; only the learner's rows fail.
#include "cli/compare/supervisor.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

std::string folder() {
  static int number = 0;
  const fs::path path =
      fs::path(std::getenv("TEST_TMPDIR")) / fmt::format("supervisor{}", number++);
  fs::create_directories(path);
  return path;
}

struct Supervised {
  std::vector<Row> rows;
  int starts = 0;
};

/// Runs fake_worker, with yours unless it did not compile.
Supervised run(const std::string& end, const std::vector<Row>& known = {},
               const std::map<std::string, RowFailure>& uncompiled = {}) {
  const std::string here = folder();
  const std::string file = here + "/ring.cc";
  std::ofstream(file) << "\nvoid allreduce_ring(Comm& dist) {}\n";
  Plan plan;
  plan.deadline_seconds = end == "hang" ? 3 : 300;
  Supervised result;
  const Workers workers = {"sim",
                           [&](int ranks, const std::vector<std::string>& options) {
                             CHECK(ranks == 2);
                             ++result.starts;
                             std::vector<std::string> command = {std::getenv("FAKE_WORKER"), end};
                             command.insert(command.end(), options.begin(), options.end());
                             return command;
                           },
                           {}};
  Compilations compiled;
  compiled.failures = uncompiled;
  if (uncompiled.empty()) compiled.libraries = {{"allreduce_ring", here + "/none.so"}};
  Output output(plan, false);
  Supervisor supervisor(plan, workers,
                        {{"allreduce_ring", CollectiveKind::kAllReduce, "ring", file}}, compiled,
                        output, here);
  supervisor.set_known(known);
  supervisor.run_world(2);
  result.rows = output.rows();
  return result;
}

/// Checks three contests, each of native, ring and ring (yours), of sizes 4, 8 and 16.
void check_whole(const std::vector<Row>& rows) {
  REQUIRE(rows.size() == 9);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(describe(rows[i]));
    CHECK(rows[i].bytes == std::int64_t{4} << (i / 3));
    CHECK(rows[i].whose == static_cast<Whose>(i % 3));
    CHECK(rows[i].time.has_value() != rows[i].failure.has_value());
    if (i % 3 == 1) CHECK(rows[i].vs_native == 2);
  }
}

TEST_CASE("where nothing happens, rows come as they are") {
  const Supervised result = run("none");
  check_whole(result.rows);
  CHECK(result.starts == 1);
  for (const Row& row : result.rows) CHECK_FALSE(row.failure.has_value());
}

TEST_CASE("a process that ends while yours is at work costs yours, from there on") {
  const struct {
    const char* end;
    const char* kind;
  } table[] = {{"die", "memory"}, {"exit", "crash"}, {"hang", "timeout"}, {"mismatch", "mismatch"}};
  for (const auto& row : table) {
    CAPTURE(row.end);
    const Supervised result = run(row.end);
    check_whole(result.rows);
    CHECK(result.starts == 2);
    CHECK_FALSE(result.rows[2].failure.has_value());
    for (const std::size_t i : {5, 8}) {
      REQUIRE(result.rows[i].failure.has_value());
      CHECK(result.rows[i].failure->kind == row.kind);
      CHECK(result.rows[i].failure->file.ends_with("ring.cc"));
    }
  }
}

TEST_CASE("what is not yours to answer for ends the comparison") {
  CHECK_THROWS_WITH_AS(run("fail"), "no such GPU", InvalidArgument);
}

TEST_CASE("what does not compile fails at once, and costs no second start") {
  const Supervised result =
      run("die", {}, {{"allreduce_ring", {"compile", "expected ;", "ring.cc", 2}}});
  check_whole(result.rows);
  CHECK(result.starts == 1);
  for (const std::size_t i : {2, 5, 8}) CHECK(result.rows[i].failure->kind == "compile");
}

TEST_CASE("what the sandbox knows is taken over: costs, and why yours fails") {
  Row known;
  known.algorithm = "ring";
  known.whose = Whose::kYours;
  known.world_size = 2;
  known.bytes = 8;
  known.cost = Cost{6, 12, 6};
  known.virtual_seconds = 0.5;
  const Supervised right = run("none", {known});
  check_whole(right.rows);
  CHECK(right.rows[5].cost == known.cost);
  CHECK(right.rows[5].virtual_seconds == 0.5);
  CHECK_FALSE(right.rows[2].cost.has_value());

  known.failure = RowFailure{"deadlock", "proved", "ring.cc", 2};
  const Supervised wrong = run("die", {known});
  check_whole(wrong.rows);
  CHECK(wrong.starts == 1);
  for (const std::size_t i : {2, 5, 8}) CHECK(wrong.rows[i].failure->kind == "deadlock");
}

}  // namespace
}  // namespace rankbox::cli
