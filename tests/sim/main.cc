// Runs all tests once with every executor.
//
// On GPUs ranks are threads; where there is no GPU the tests are skipped.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/sim/on_executor.h"
#include "tests/support/run_tests.h"

int main(int argc, char** argv) {
  using rankbox::ExecutorKind;
  if (const std::string missing = rankbox::why_no_ranks(); !missing.empty())
    return rankbox::testing::skip_all(missing);
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
    const int ended = rankbox::testing::run_tests(argc, argv);
    if (ended == 0) continue;
    status = ended;
    unsetenv("XML_OUTPUT_FILE");  // the report of this failure is not to be replaced
  }
  return status;
}
