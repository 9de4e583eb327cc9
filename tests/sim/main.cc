// main() of the tests that hold whoever runs the ranks: all of them once with every executor.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdio>

#include <doctest/doctest.h>

#include "tests/sim/on_executor.h"

int main(int argc, char** argv) {
  using rankbox::ExecutorKind;
  int status = 0;
  for (const ExecutorKind executor : {ExecutorKind::kThreads, ExecutorKind::kFibers}) {
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
