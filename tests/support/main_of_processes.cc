// main() of tests that may run as several processes, each of which runs all test cases: one of them
// tells how it went, the others only if it went wrong.
#define DOCTEST_CONFIG_IMPLEMENT
#include <iostream>
#include <sstream>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const rankbox::Launch launch = rankbox::launch();
  std::ostringstream quiet;
  if (!launch.is_first()) context.setCout(&quiet);
  const int status = context.run();
  if (status != 0 && !launch.is_first()) {
    std::cout << "process " << launch.process << ":\n" << quiet.str() << std::flush;
  }
  return status;
}
