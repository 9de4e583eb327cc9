#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rankbox::fuzz::talk_to_referee(data, size);
  return 0;
}
