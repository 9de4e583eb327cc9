// main() of tests for any backend that run once with every executor of the sandbox.
//
// On GPUs ranks are threads; where there is no GPU the tests are skipped.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/support/executors.h"
#include "tests/support/processes.h"

int main(int argc, char** argv) {
  using rankbox::ExecutorKind;
#if defined(RANKBOX_BACKEND_SIM)
  const std::vector executors = {ExecutorKind::kThreads, ExecutorKind::kFibers};
#else
  const std::vector executors = {ExecutorKind::kThreads};
#endif
  int status = 0;
  for (const ExecutorKind executor : executors) {
    rankbox::testing::current_executor = executor;
    if (executors.size() > 1) std::printf("ranks as %s:\n", name_of(executor));
    std::fflush(stdout);
    const int ended = rankbox::testing::run_tests_of_processes(argc, argv);
    if (ended == 0) continue;
    status = ended;
    unsetenv("XML_OUTPUT_FILE");  // the report of this failure is not to be replaced
  }
  return status;
}
