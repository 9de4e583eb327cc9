// main() of tests for any backend, possibly as several processes.
#include "tests/support/processes.h"

int main(int argc, char** argv) { return rankbox::testing::run_tests_of_processes(argc, argv); }
