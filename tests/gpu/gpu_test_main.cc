// main() of tests that need a GPU; without one they are skipped.
#include "gpu/device/devices.h"
#include "tests/support/run_tests.h"

int main(int argc, char** argv) {
  const std::string missing = rankbox::gpu::why_no_device();
  return missing.empty() ? rankbox::testing::run_tests(argc, argv)
                         : rankbox::testing::skip_all(missing);
}
