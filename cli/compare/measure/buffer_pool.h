// Buffers that take turns, so that a timed call does not find its data in a cache.
//
// nccl-tests shifts its buffers through the largest size. The contract's functions take whole
// tensors, so here up to 64 pairs of tensors take turns. Rows smaller than a 64th of a cache may
// still find their data in it.
//
// Thread safety: belongs to one rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cli/compare/plan/buffers.h"

namespace rankbox::cli {

class BufferPool {
 public:
  static constexpr std::int64_t kMostBuffers = 64;

  /// Makes as many buffers as have this many bytes, at least one. All inputs hold the same numbers
  /// (fill_input()).
  BufferPool(const RankPart& part, std::int64_t bytes);

  std::size_t size() const { return buffers_.size(); }

  /// Returns the buffers whose last use is longest ago.
  Buffers& next();

  /// Gives the inputs that next() returned since the last call their numbers again, if reductions
  /// may have replaced them: sums of sums soon become infinite, and the same on all ranks.
  /// Copies, so call it outside timed regions. All other inputs are used before a restored one is
  /// used again.
  void restore();

 private:
  std::vector<Buffers> buffers_;
  Tensor original_;        // empty: no need to restore
  std::size_t next_ = 0;   // index in buffers_
  std::size_t dirty_ = 0;  // the number of buffers before next_ that may have changed
};

}  // namespace rankbox::cli
