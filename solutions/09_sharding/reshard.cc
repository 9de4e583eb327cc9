#include "parallel/reshard.h"

#include <cstdlib>
#include <numeric>
#include <vector>

namespace rankbox {

namespace {

using Regions = std::vector<Region>;  // [rank]

Regions regions_of(const MeshLayout& layout, int world_size, std::int64_t rows,
                   std::int64_t columns) {
  Regions all;
  for (int rank = 0; rank < world_size; ++rank)
    all.push_back(region_of(layout, rank, rows, columns));
  return all;
}

/// Returns which of the ranks that hold what src holds gives it to dst: the nearest.
int giver_of(const Regions& held, std::size_t src, int dst) {
  int nearest = static_cast<int>(src);
  for (int rank = static_cast<int>(held.size()) - 1; rank >= 0; --rank) {
    const bool is_replica = held[static_cast<std::size_t>(rank)] == held[src];
    if (is_replica && std::abs(rank - dst) <= std::abs(nearest - dst)) nearest = rank;
  }
  return nearest;
}

/// Returns what src gives to dst.
Region given(const Regions& held, const Regions& needed, std::size_t src, std::size_t dst) {
  const bool gives = giver_of(held, src, static_cast<int>(dst)) == static_cast<int>(src);
  return gives ? intersection(held[src], needed[dst]) : Region();
}

std::int64_t sum(const std::vector<std::int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
}

}  // namespace

void reshard(Comm& dist, const Tensor& mine, const MeshLayout& from, const MeshLayout& to,
             std::int64_t rows, std::int64_t columns, Tensor& output) {
  const auto me = static_cast<std::size_t>(dist.rank());
  const Regions held = regions_of(from, dist.world_size(), rows, columns);
  const Regions needed = regions_of(to, dist.world_size(), rows, columns);

  // 1. Who gives this rank what, and what it gives to whom.
  Regions out, in;
  std::vector<std::int64_t> send_counts, receive_counts;
  for (std::size_t other = 0; other < held.size(); ++other) {
    out.push_back(given(held, needed, me, other));
    in.push_back(given(held, needed, other, me));
    send_counts.push_back(out.back().elements());
    receive_counts.push_back(in.back().elements());
  }

  // 2. One message to each rank.
  Tensor sent(Shape(sum(send_counts))), received(Shape(sum(receive_counts)));
  std::int64_t at = 0;
  for (const Region& part : out) {
    pack_part(mine, held[me], part, Slice(sent).sub(at, at + part.elements()));
    at += part.elements();
  }
  dist.all_to_all_v(sent, send_counts, received, receive_counts);

  // 3. Each part to its place.
  output = Tensor({needed[me].rows(), needed[me].columns()});
  at = 0;
  for (const Region& part : in) {
    unpack_part(Slice(received).sub(at, at + part.elements()), part, output, needed[me]);
    at += part.elements();
  }
}

}  // namespace rankbox
