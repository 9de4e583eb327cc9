// alltoallv: rows go to the ranks that they are for, however many those are.
//
// all_to_all moves pieces of one size. A router chooses, so here each rank decides how many rows it
// has for every other, and only the sender knows. A receiver must know, too, before it can make a
// tensor: so counts travel first, then the rows.
//
//   p = 3               rank 0               rank 1               rank 2
//   send_counts         1 2 0                0 0 0                3 0 1
//   rows                a | b c |            (none)               d e f | | g
//   receive_counts      1 0 3                2 0 0                0 0 1
//   received            a | | d e f          b c | |              | | g
//
// The first exchange is an all_to_all of p numbers: each rank has one for every other. Its output
// is receive_counts. The second one is all_to_all_v, which counts elements: h times as many.
//
// A rank that has no rows takes part all the same: others have some for it, or wait for its counts.
//
// Build on dist.all_to_all of std::int64_t, and dist.all_to_all_v.
//
// Cost: a native all_to_all of 8p bytes, and a native all_to_all_v of the rows, each once.
// Memory: the rows that arrive.
// Blocks: until all ranks have called it.
// Difficulty 2/5. Importance 4/5.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/comm.h"

namespace rankbox {

/// Every rank gets the rows that are for it: those of rank 0 first, each rank's in their order.
///
/// @param rows [n, h]: those for rank 0 first
/// @param send_counts how many rows are for each rank; they add up to n
/// @param received becomes [m, h], whatever it was
/// @param receive_counts becomes how many rows came from each rank; they add up to m
/// REQUIRES: every rank calls it, with the same h.
void alltoallv(Comm& dist, const Tensor& rows, const std::vector<std::int64_t>& send_counts,
               Tensor& received, std::vector<std::int64_t>& receive_counts);

}  // namespace rankbox
