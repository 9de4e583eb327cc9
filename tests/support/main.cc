// main() of every test. doctest prints the file, the line and the values.
#include "tests/support/run_tests.h"

int main(int argc, char** argv) { return rankbox::testing::run_tests(argc, argv); }
