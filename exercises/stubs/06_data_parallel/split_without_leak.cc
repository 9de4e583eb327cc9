#include "parallel/split_without_leak.h"

namespace rankbox {

void split_without_leak(Comm& dist, std::int64_t samples, std::int64_t held_out, std::int64_t seed,
                        std::vector<std::int64_t>& train, std::vector<std::int64_t>& validation) {
  // TODO: every rank has another seed. What is the least that has to be sent, so that all ranks
  // hold back the same samples?
  throw NotImplemented("split_without_leak");
}

}  // namespace rankbox
