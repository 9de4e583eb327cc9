// The standard library's mixer of seeds, fed with all numbers that count.
#include <array>
#include <random>

#include "parallel/dropout_seeds.h"

namespace rankbox {

namespace {

std::uint64_t mixed(std::uint64_t seed, int generator, int number) {
  std::seed_seq sequence{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                         static_cast<std::uint32_t>(generator), static_cast<std::uint32_t>(number)};
  std::array<std::uint32_t, 2> words{};
  sequence.generate(words.begin(), words.end());
  return std::uint64_t{words[1]} << 32 | words[0];
}

}  // namespace

void dropout_seeds(std::uint64_t seed, int rank, int tensor_ranks, DropoutSeeds& seeds) {
  seeds.replicated = mixed(seed, 0, (rank - rank % tensor_ranks) / tensor_ranks);
  seeds.sharded = mixed(seed, 1, rank);
}

}  // namespace rankbox
