// Impossible worlds are rejected in one line, before any rank has started.
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"

namespace rankbox::testing {
namespace {

TEST_CASE("worlds that cannot be are refused before any rank starts") {
  struct Row {
    RunOptions options;
    std::vector<std::string> values;
  };
  const Cluster box = {.name = "box", .ranks_per_node = 2, .max_nodes = 1};
  const Cluster rack = {.name = "rack", .max_nodes = 2};
  const Row rows[] = {
      {{.world_size = 3, .cluster = box}, {"3 ranks", "box", "1 node of 2 ranks"}},
      {{.world_size = 2, .nodes = 2, .cluster = box}, {"2 nodes", "box", "1 node of 2 ranks"}},
      {{.world_size = 4, .nodes = 3, .cluster = rack}, {"3 nodes", "rack", "2 nodes"}},
      {{.world_size = 0}, {"0", "1"}},
      {{.world_size = -1}, {"-1"}},
      {{.world_size = std::numeric_limits<int>::min()}, {"-2147483648"}},
      {{.world_size = 4, .nodes = 0}, {"0", "1 to 4"}},
      {{.world_size = 4, .nodes = -3}, {"-3", "1 to 4"}},
      {{.world_size = 4, .nodes = 5}, {"5", "1 to 4"}},
  };
  for (const Row& row : rows) {
    bool started = false;
    const auto seen = observe(row.options, [&](Comm&) { started = true; });
    const std::string what = what_of(seen.thrown);
    CAPTURE(what);
    CHECK(ended_as<InvalidArgument>(seen));
    for (const std::string& value : row.values) CHECK(contains(what, value));
    CHECK(what.find('\n') == std::string::npos);
    CHECK_FALSE(started);
    // Also for runs with results.
    CHECK_THROWS_AS(run_ranks(row.options, [](Comm& dist) { return dist.rank(); }),
                    InvalidArgument);
  }
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
// Sanitizers need the address space that this test restricts.

/// Starts a world in a separate process, with memory for a few threads only. Returns what run_world
/// threw.
std::string start_with_little_room(int world_size) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    constexpr rlim_t kRoom = rlim_t{256} << 20;  // a thread has a stack of 8 MiB, a fiber of 1 MiB
    const rlimit little = {kRoom, kRoom};
    setrlimit(RLIMIT_AS, &little);
    std::string said = "ranks ran";
    bool started = false;
    try {
      run_world({.world_size = world_size}, [&](Comm&) { started = true; });
    } catch (const InvalidArgument& error) {
      said = error.what();
    } catch (const std::exception& error) {
      said = std::string("not an InvalidArgument: ") + error.what();
    }
    if (started) said = "ranks ran";
    const bool written =
        write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string said;
  char buffer[512];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof(buffer))) > 0;)
    said.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  return said;
}

TEST_CASE("a world larger than the machine can start is refused, and no rank has run") {
  const std::string said = start_with_little_room(1000);
  CAPTURE(said);
  CHECK(contains(said, "1000"));
  CHECK_FALSE(contains(said, "not an InvalidArgument"));
  CHECK(said.find('\n') == std::string::npos);
}
#endif

}  // namespace
}  // namespace rankbox::testing
