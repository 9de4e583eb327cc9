// check --sealed: a process for each rank, and a referee.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/dev/mutants.h"
#include "cli/support/container.h"
#include "judge/catalog.h"
#include "judge/verdict_text.h"
#include "tests/cli/command.h"
#include "tests/support/run_tests.h"

namespace rankbox {

namespace {

/// What is checked: an exercise, and a file or --solution.
using Words = std::vector<std::string>;

void check_that_all_pass(std::vector<Words> checks) {
  if (const std::string problem = cli::container_problem(); !problem.empty())
    return testing::pass_over_without_containers(problem);
  for (Words& words : checks) words.insert(words.end(), {"--sealed", "--timeout", "60"});
  const std::vector<Verdict> verdicts = checked_all(checks);
  for (std::size_t i = 0; i < checks.size(); ++i)
    CHECK_MESSAGE(verdicts[i].passed(), fmt::format("{}", fmt::join(checks[i], " ")), "\n",
                  to_text(verdicts[i]));
}

}  // namespace

TEST_CASE("a sealed check passes every solution") {
  project();  // sets the root
  std::vector<Words> checks;
  std::size_t row = 0;
  for (const Exercise& exercise : exercises()) {
    if (testing::wants_row(exercise.name) && testing::is_to_run(row++))
      checks.push_back({exercise.name, "--solution"});
  }
  check_that_all_pass(checks);
}

// variants_test checks all files in threads. Sealed checks of all would take too long, so this test
// runs the longest file of each exercise, and only in full runs.
TEST_CASE("a sealed check passes a right program in another style, of every exercise") {
  if (testing::runs_a_third()) return testing::pass_over("each takes as long as its solution's");
  project();  // sets the root
  std::vector<Words> checks;
  for (const Exercise& exercise : exercises()) {
    const std::vector<std::string> files = cli::variants_of(exercise);
    REQUIRE_FALSE(files.empty());
    const std::string file = *std::ranges::max_element(
        files, {}, [](const std::string& path) { return read_file(path).size(); });
    if (testing::wants_row(file)) checks.push_back({exercise.name, "--file", file});
  }
  check_that_all_pass(checks);
}

TEST_CASE("a sealed check passes what it once refused") {
  project();  // sets the root
  std::vector<Words> checks;
  for (const char* file :
       {"race/atomic_wait.cc", "race/atomic_flag_wait.cc", "zero1/asynchronous.cc",
        "zero2/asynchronous.cc", "clip_global_norm/futures.cc", "checkpoint_rank0/own_state.cc"}) {
    const std::string path = std::string("tests/variants/") + file;
    if (testing::wants_row(path))
      checks.push_back({path.substr(15, path.rfind('/') - 15), "--file", path});
  }
  check_that_all_pass(checks);
}

TEST_CASE("a check that is not sealed warns of memory that it does not count") {
  const auto warnings_with = [](const std::string& code) {
    std::string program = read_file("solutions/09_sharding/zero1.cc");
    const std::string begin = "Optimizer& optimizer) {\n";
    program.insert(program.find(begin) + begin.size(), code);
    const std::string file = project() + "/tmp_zero1.cc";
    std::ofstream(file) << "#include <cstdlib>\n" << program;
    const Verdict verdict = checked({"zero1", "--file", file});
    CHECK_MESSAGE(verdict.passed(), to_text(verdict));
    return verdict.warnings;
  };
  CHECK(warnings_with("").empty());
  const auto warnings = warnings_with("void* volatile own = std::malloc(64); std::free(own);\n");
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].starts_with("memory from malloc is not counted here"));
}

// What it sends afterwards must not be taken for another call's.
TEST_CASE("a rank that sends what is no request fails in the case where it did") {
  if (const std::string problem = cli::container_problem(); !problem.empty())
    return testing::pass_over_without_containers(problem);
  const std::filesystem::path file = std::filesystem::path(project()) / "no_request.cc";
  std::ofstream(file) << R"(
#include <sys/socket.h>
#include <cstdint>
#include "collectives/broadcast_naive.h"
namespace rankbox {
void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const std::uint32_t empty_recv[] = {11, 0};
  for (int fd = 4; tensor.size() == 0 && fd < 256; ++fd)
    send(fd, empty_recv, sizeof(empty_recv), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (dist.rank() != src) return dist.recv(tensor, src);
  for (int rank = 0; rank < dist.world_size(); ++rank)
    if (rank != src) dist.send(tensor, rank);
}
}  // namespace rankbox
)";
  const Verdict verdict = checked({"broadcast_naive", "--sealed", "--file", file.string()});
  REQUIRE(verdict.failure);
  CHECK(verdict.failure->kind == FailureKind::kCrash);
  CHECK(verdict.failure->replay.ends_with("count=0"));
}

}  // namespace rankbox
