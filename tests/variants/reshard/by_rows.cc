// A table of all pairs of ranks is made first; parts are copied row by row, with slices alone.
#include <cstdlib>
#include <vector>

#include "parallel/reshard.h"

namespace rankbox {

namespace {

bool is_nearer(int a, int b, int to) {
  const int of_a = std::abs(a - to), of_b = std::abs(b - to);
  return of_a < of_b || (of_a == of_b && a < b);
}

/// Calls handle(slice of the tensor) for each row of a part.
template <class Handle>
void for_each_row(Slice tensor, const Region& whole, const Region& part, Handle handle) {
  for (std::int64_t row = part.first_row; row < part.last_row; ++row) {
    const std::int64_t begin = (row - whole.first_row) * whole.columns() - whole.first_column;
    handle(tensor.sub(begin + part.first_column, begin + part.last_column));
  }
}

}  // namespace

void reshard(Comm& dist, const Tensor& mine, const MeshLayout& from, const MeshLayout& to,
             std::int64_t rows, std::int64_t columns, Tensor& output) {
  const int p = dist.world_size();
  std::vector<Region> before, after, table;  // table: [src · p + dst]
  for (int rank = 0; rank < p; ++rank) {
    before.push_back(region_of(from, rank, rows, columns));
    after.push_back(region_of(to, rank, rows, columns));
  }
  for (int src = 0; src < p; ++src) {
    for (int dst = 0; dst < p; ++dst) {
      bool is_nearest = true;
      for (int other = 0; other < p; ++other)
        is_nearest &= before[other] != before[src] || !is_nearer(other, src, dst);
      table.push_back(is_nearest ? intersection(before[src], after[dst]) : Region());
    }
  }

  const int me = dist.rank();
  std::vector<std::int64_t> out(p), in(p);
  std::int64_t all_out = 0, all_in = 0;
  for (int other = 0; other < p; ++other) {
    all_out += out[other] = table[me * p + other].elements();
    all_in += in[other] = table[other * p + me].elements();
  }
  Tensor leaving(Shape{all_out}), arriving(Shape{all_in});
  std::int64_t at = 0;
  for (int dst = 0; dst < p; ++dst) {
    for_each_row(mine, before[me], table[me * p + dst], [&](Slice row) {
      copy(Slice(leaving).sub(at, at + row.size()), row);
      at += row.size();
    });
  }
  dist.all_to_all_v(leaving, out, arriving, in);
  leaving = Tensor();

  output = zeros({after[me].rows(), after[me].columns()});
  at = 0;
  for (int src = 0; src < p; ++src) {
    for_each_row(output, after[me], table[src * p + me], [&](Slice row) {
      copy(row, Slice(arriving).sub(at, at + row.size()));
      at += row.size();
    });
  }
}

}  // namespace rankbox
