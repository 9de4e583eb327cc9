// Runs test cases on any backend, possibly as several processes.
#pragma once

namespace rankbox::testing {

/// As run_tests() in every process of the launch: one of them prints the results, the others only
/// failures. Where the backend cannot run (no GPU), all tests are skipped.
int run_tests_of_processes(int argc, char** argv);

}  // namespace rankbox::testing
