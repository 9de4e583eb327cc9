#include "judge/race/variants.h"

#include <array>

namespace rankbox {

std::span<const RaceVariant> race_variants() {
  static constexpr std::array<RaceVariant, 4> kVariants = {{
      {"unfixed", race_unfixed},
      {"mutex", race_with_mutex},
      {"atomic", race_with_atomic},
      {"messages", race_with_messages},
  }};
  return kVariants;
}

}  // namespace rankbox
