// main() of tests of any backend. They may run as several processes, each of which runs all test
// cases: one of them prints the results, the others only if they failed. Where the backend cannot
// run (no GPU), all tests are skipped.
#include <iostream>
#include <sstream>

#include "comm/run_ranks.h"
#include "tests/support/run_tests.h"

int main(int argc, char** argv) {
  if (const std::string missing = rankbox::why_no_ranks(); !missing.empty())
    return rankbox::testing::skip_all(missing);
  const rankbox::Launch launch = rankbox::launch();
  std::ostringstream quiet;
  const int status = rankbox::testing::run_tests(argc, argv, launch.is_first() ? nullptr : &quiet);
  if (status != 0 && !launch.is_first())
    std::cout << "process " << launch.process << ":\n" << quiet.str() << std::flush;
  return status;
}
