// Random broken programs end as the reference model says.
#include <string>

#include <doctest/doctest.h>

#include "tests/mpi/failing_run.h"
#include "tests/support/thrown.h"

namespace rankbox::testing {
namespace {

TEST_CASE("random broken programs end as the reference model says") {
  for (int seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const Ending ending = run(mpirun(4, {"random", std::to_string(seed)}));
    INFO(ending.output);
    const Report report = report_in(ending.output);
    const std::string name = report.count == 0 ? "none" : report.name;
    CHECK(contains(ending.output, "may end as " + name + "\n"));
    CHECK((ending.exit_code == 0) == (name == "none"));
    CHECK(report.count <= 1);
    CHECK(all_are_gone());
  }
}

}  // namespace
}  // namespace rankbox::testing
