// main() of tests that need a GPU: where there is none, they say why and are passed over.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdio>

#include <doctest/doctest.h>

#include "gpu/device/devices.h"

int main(int argc, char** argv) {
  const std::string missing = rankbox::gpu::why_no_device();
  if (!missing.empty()) {
    std::printf("skipped: %s\n", missing.c_str());
    return 0;
  }
  return doctest::Context(argc, argv).run();
}
