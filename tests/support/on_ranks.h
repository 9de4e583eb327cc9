// What a call leaves on every rank, and what it costs: for test cases that are worked out by hand.
//
//   CHECK(on_ranks(4, [](Comm& dist) {
//           Tensor tensor = full(3, dist.rank() + 1.0f);
//           broadcast_tree(dist, tensor, 2);
//           return to_host(tensor);
//         }) == every(4, {3, 3, 3}));
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/run_ranks.h"

namespace rankbox {

using Values = std::vector<float>;

/// Runs call(dist) on p ranks of the sandbox, and returns what it returned on each.
/// Errors: the first failure of any rank, which fails the running test case with its message.
template <class Call>
auto on_ranks(int p, Call call, int nodes = 1) {
  return run_ranks({.world_size = p, .nodes = nodes}, call).results;
}

/// Returns the exact cost of call(dist) on p ranks: the latencies, bytes sent and bytes reduced
/// along the critical path.
template <class Call>
Cost cost_of(int p, Call call, int nodes = 1) {
  return run_ranks({.world_size = p, .nodes = nodes}, call).report.cost;
}

/// Returns the same values for each of p ranks.
inline std::vector<Values> every(int p, const Values& values) {
  return std::vector<Values>(static_cast<std::size_t>(p), values);
}

/// How a failed check prints a cost, as doctest finds it by its namespace.
inline std::ostream& operator<<(std::ostream& out, const Cost& cost) {
  return out << fmt::format("Cost{{{}, {}, {}}}", cost.steps, cost.bytes, cost.reduced);
}

}  // namespace rankbox

/// How it prints what each rank has.
template <>
struct doctest::StringMaker<std::vector<rankbox::Values>> {
  static doctest::String convert(const std::vector<rankbox::Values>& ranks) {
    return fmt::format("{}", ranks).c_str();
  }
};
