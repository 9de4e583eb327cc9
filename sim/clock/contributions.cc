#include "sim/clock/contributions.h"

#include <algorithm>

namespace rankbox {

void Contributions::add(std::int64_t bytes, bool is_root) {
  least_ = ranks_ == 0 ? bytes : std::min(least_, bytes);
  most_ = ranks_ == 0 ? bytes : std::max(most_, bytes);
  all_ += bytes;
  if (is_root) root_ = bytes;
  ++ranks_;
}

double Contributions::as_equal_pieces(CollectiveKind kind) const {
  const auto most = static_cast<double>(most_);
  const auto others = static_cast<double>(ranks_ - 1);
  if (ranks_ == 1) return most;
  if (kind == CollectiveKind::kAllToAllV) return most * static_cast<double>(ranks_) / others;
  if (least_ == most_) return most;
  switch (with_equal_pieces(kind)) {
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
      return static_cast<double>(all_ - root_) / others;
    case CollectiveKind::kAllGather:  // the rank with the smallest piece receives most
      return static_cast<double>(all_ - least_) / others;
    default:
      return most;
  }
}

}  // namespace rankbox
