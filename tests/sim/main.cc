// main() of the tests that hold whoever runs the ranks: all of them once with every executor. On GPUs
// ranks are threads; where there is no GPU the tests are passed over.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdio>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/sim/on_executor.h"

int main(int argc, char** argv) {
  using rankbox::ExecutorKind;
  const std::string missing = rankbox::why_no_ranks();
  if (!missing.empty()) {
    std::printf("skipped: %s\n", missing.c_str());
    return 0;
  }
#if defined(RANKBOX_BACKEND_SIM)
  const std::vector executors = {ExecutorKind::kThreads, ExecutorKind::kFibers};
#else
  const std::vector executors = {ExecutorKind::kThreads};
#endif
  int status = 0;
  for (const ExecutorKind executor : executors) {
    rankbox::testing::current_executor = executor;
    std::printf("ranks as %s:\n", name_of(executor));
    std::fflush(stdout);
    doctest::Context context(argc, argv);
    const int ended = context.run();
    if (ended != 0) status = ended;
    if (context.shouldExit()) break;  // a question about the tests was answered
  }
  return status;
}
