#include "training/run/strategies/equal_shares.h"

#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox::train {

void check_equal_shares(const Plan& plan, std::int64_t samples) {
  const std::int64_t ranks = plan.ranks;
  if (ranks > samples) {
    throw InvalidArgument(
        fmt::format("--ranks {}: more than the {} samples to train with, and each rank needs one; "
                    "give {} ranks "
                    "at most",
                    ranks, samples, samples));
  }
  if (plan.batch < ranks) {
    throw InvalidArgument(
        fmt::format("--batch {}: smaller than the {} ranks, which need a sample each; give --batch "
                    "{}, or fewer --ranks",
                    plan.batch, ranks, ranks));
  }
  // A batch of more than all samples is refused later; with `ranks` more it may not fit in 64 bits.
  if (plan.batch % ranks != 0 && plan.batch <= samples) {
    const std::int64_t below = plan.batch / ranks * ranks;
    throw InvalidArgument(
        fmt::format("--batch {}: {} ranks cannot share it equally; give --batch {} or {}",
                    plan.batch, ranks, below, below + ranks));
  }
}

}  // namespace rankbox::train
