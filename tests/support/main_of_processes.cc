// main() of tests of any backend. They may run as several processes, each of which runs all test cases:
// one of them tells how it went, the others only if it went wrong. Where the backend cannot run (no
// GPU), they say why and are passed over.
#define DOCTEST_CONFIG_IMPLEMENT
#include <iostream>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"

int main(int argc, char** argv) {
  const std::string missing = rankbox::why_no_ranks();
  if (!missing.empty()) {
    std::cout << "skipped: " << missing << "\n";
    return 0;
  }
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
