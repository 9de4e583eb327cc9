// Who works with whom in the exercises for two: the first rank with the last, the second with the
// last but one, and so on. In an odd world the middle rank is its own partner.
#pragma once

namespace rankbox {

constexpr int partner_of(int rank, int world_size) { return world_size - 1 - rank; }

}  // namespace rankbox
