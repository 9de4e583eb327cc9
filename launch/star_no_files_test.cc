// A star whose rank 0 may open no more files.
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "launch/reserved_port.h"
#include "launch/star.h"
#include "launch/test_processes.h"

namespace rankbox::launcher {
namespace {

TEST_CASE("rank 0 without a file left for connections says so") {
  const ReservedPort port;
  const auto outcomes = run_processes(2, [&](int rank) {
    if (rank == 0) {
      const rlimit few = {256, 256};
      setrlimit(RLIMIT_NOFILE, &few);
      // All but those that the star takes before: two of a pair, one to listen.
      std::vector<int> files;
      while (files.empty() || files.back() >= 0) files.push_back(dup(0));
      for (std::size_t i = files.size() - 4; i < files.size() - 1; ++i) close(files[i]);
    }
    StarOptions options;
    options.rank = rank;
    options.world_size = 2;
    options.at.port = port.number();
    options.seconds = 1.5;
    Star star(options);
    return std::string("started");
  });
  CAPTURE(outcomes[0].text);
  CHECK(outcomes[0].text.find("ulimit -n") != std::string::npos);
}

}  // namespace
}  // namespace rankbox::launcher
