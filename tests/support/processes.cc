#include "tests/support/processes.h"

#include <iostream>
#include <sstream>
#include <string>

#include "comm/run_ranks.h"
#include "tests/support/run_tests.h"

namespace rankbox::testing {

int run_tests_of_processes(int argc, char** argv) {
  if (const std::string missing = why_no_ranks(); !missing.empty()) return skip_all(missing);
  const Launch started = launch();
  std::ostringstream quiet;
  const int status = run_tests(argc, argv, started.is_first() ? nullptr : &quiet);
  if (status != 0 && !started.is_first())
    std::cout << "process " << started.process << ":\n" << quiet.str() << std::flush;
  return status;
}

}  // namespace rankbox::testing
