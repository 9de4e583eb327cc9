// What the ranks of a group contribute to one native collective, for its price.
#pragma once

#include <cstdint>

#include "comm/collective_kind.h"

namespace rankbox {

class Contributions {
 public:
  /// @param bytes of the rank's event (comm/trace.h)
  void add(std::int64_t bytes, bool is_root);

  /// Returns one rank's bytes of a call with equal pieces that costs the same: the busiest rank of
  /// it sends to the others, or receives from them, as much as that of this one. REQUIRES: a rank.
  double as_equal_pieces(CollectiveKind kind) const;

 private:
  std::int64_t ranks_ = 0;
  std::int64_t all_ = 0;
  std::int64_t least_ = 0;
  std::int64_t most_ = 0;
  std::int64_t root_ = 0;
};

}  // namespace rankbox
