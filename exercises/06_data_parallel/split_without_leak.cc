#include "parallel/split_without_leak.h"

namespace rankbox {

void split_without_leak(Comm& dist, std::int64_t samples, std::int64_t held_out, std::int64_t seed,
                        std::vector<std::int64_t>& train, std::vector<std::int64_t>& validation) {
  // TODO: every rank has a different seed. What is the least that must be sent, so that all ranks
  // hold back the same samples?
  throw NotImplemented("split_without_leak");
}

}  // namespace rankbox
