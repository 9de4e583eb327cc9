// A named stream for each generator, and the rank's number instead of replica and part.
#include "parallel/dropout_seeds.h"

namespace rankbox {

namespace {

std::uint64_t seed_in(std::uint64_t seed, const char* name, int number) {
  return Random(seed).stream(name).at(static_cast<std::uint64_t>(number));
}

}  // namespace

void dropout_seeds(std::uint64_t seed, int rank, int tensor_ranks, DropoutSeeds& seeds) {
  const int replica = rank / tensor_ranks;
  seeds = {seed_in(seed, "whole", replica), seed_in(seed, "in parts", rank)};
}

}  // namespace rankbox
