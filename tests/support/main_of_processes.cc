// main() of tests for any backend, possibly as several processes.
//
// Each process runs all test cases. One of them prints the results, the others only failures. Where
// the backend cannot run (no GPU), all tests are skipped.
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
