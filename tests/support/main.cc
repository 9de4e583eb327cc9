// main() of every test. What doctest prints names the file, the line and the values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
