// What a rank has already is copied, and not packed; the receiver goes through the ranks by their
// distance, and takes what it does not have yet.
#include <algorithm>
#include <cstdlib>
#include <set>
#include <tuple>
#include <vector>

#include "parallel/reshard.h"

namespace rankbox {

namespace {

/// Returns what a rank takes from each of the others, and from itself.
std::vector<Region> taken_by(int receiver, const MeshLayout& from, const MeshLayout& to, int p,
                             std::int64_t rows, std::int64_t columns) {
  std::vector<int> by_distance;
  for (int rank = 0; rank < p; ++rank) by_distance.push_back(rank);
  std::ranges::stable_sort(by_distance, {}, [=](int rank) { return std::abs(rank - receiver); });

  const Region needed = region_of(to, receiver, rows, columns);
  std::vector<Region> taken(static_cast<std::size_t>(p));
  std::set<std::tuple<std::int64_t, std::int64_t>> corners;  // of the parts that it has
  for (const int rank : by_distance) {
    const Region part = intersection(region_of(from, rank, rows, columns), needed);
    if (part.elements() == 0) continue;
    if (corners.emplace(part.first_row, part.first_column).second)
      taken[static_cast<std::size_t>(rank)] = part;
  }
  return taken;
}

}  // namespace

void reshard(Comm& dist, const Tensor& mine, const MeshLayout& from, const MeshLayout& to,
             std::int64_t rows, std::int64_t columns, Tensor& output) {
  const int p = dist.world_size(), rank = dist.rank();
  const Region held = region_of(from, rank, rows, columns);
  const Region needed = region_of(to, rank, rows, columns);
  output = Tensor({needed.rows(), needed.columns()});

  std::vector<Tensor> packed;
  std::vector<std::int64_t> out, in;
  std::int64_t leaving = 0, coming = 0;
  const std::vector<Region> taken = taken_by(rank, from, to, p, rows, columns);
  for (int other = 0; other < p; ++other) {
    const bool is_self = other == rank;
    const Region given =
        taken_by(other, from, to, p, rows, columns)[static_cast<std::size_t>(rank)];
    packed.emplace_back(Shape(given.elements()));
    pack_part(mine, held, given, packed.back());
    if (is_self) {
      unpack_part(packed.back(), given, output, needed);
      packed.back() = Tensor();
    }
    out.push_back(packed.back().size());
    in.push_back(is_self ? 0 : taken[static_cast<std::size_t>(other)].elements());
    leaving += out.back();
    coming += in.back();
  }

  Tensor sent(Shape{leaving}), received(Shape{coming});
  std::int64_t end = 0;
  for (Tensor& part : packed) {
    const std::int64_t begin = end;
    end += part.size();
    if (!part.empty()) copy(Slice(sent).sub(begin, end), part);
    part = Tensor();
  }
  dist.wait(dist.all_to_all_v_async(sent, out, received, in));

  std::int64_t begin = 0;
  for (int other = 0; other < p; ++other) {
    if (other == rank) continue;
    const Region& part = taken[static_cast<std::size_t>(other)];
    unpack_part(Slice(received).sub(begin, begin + part.elements()), part, output, needed);
    begin += part.elements();
  }
}

}  // namespace rankbox
