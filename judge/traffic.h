// How many elements or rows each rank has for every other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace rankbox {

inline std::int64_t total(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

struct Traffic {
  int world_size = 1;
  std::vector<std::int64_t> rows = {};  // [src · world_size + dst]

  std::int64_t between(int src, int dst) const {
    const std::int64_t place = std::int64_t{src} * world_size + dst;
    return rows[static_cast<std::size_t>(place)];
  }
  std::vector<std::int64_t> sent_by(int rank) const {
    std::vector<std::int64_t> counts;
    for (int dst = 0; dst < world_size; ++dst) counts.push_back(between(rank, dst));
    return counts;
  }
  std::vector<std::int64_t> received_by(int rank) const {
    std::vector<std::int64_t> counts;
    for (int src = 0; src < world_size; ++src) counts.push_back(between(src, rank));
    return counts;
  }
  /// Returns what the rank sends to others, or receives from them if that is more.
  std::int64_t busiest(int rank) const {
    return std::max(total(sent_by(rank)), total(received_by(rank))) - between(rank, rank);
  }
};

template <class RowsOf>
Traffic traffic_of(int world_size, RowsOf rows_of) {
  Traffic traffic = {world_size};
  for (int src = 0; src < world_size; ++src) {
    for (int dst = 0; dst < world_size; ++dst) traffic.rows.push_back(rows_of(src, dst));
  }
  return traffic;
}

}  // namespace rankbox
