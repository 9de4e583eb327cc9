// Worlds that are too large are refused in one line, before any rank has started.
#include <limits>
#include <string>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"

namespace rankbox::testing {
namespace {

TEST_CASE("worlds of billions of ranks are refused in one line") {
  for (int world_size : {std::numeric_limits<int>::max(), 1 << 30}) {
    std::string what;
    try {
      run_world({.world_size = world_size}, [](Comm&) {});
    } catch (const InvalidArgument& error) {
      what = error.what();
    }
    CAPTURE(what);
    CHECK(contains(what, std::to_string(world_size)));
    CHECK_FALSE(contains(what, "\n"));
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
