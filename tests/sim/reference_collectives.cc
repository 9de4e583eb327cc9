#include "tests/sim/reference_collectives.h"

#include <algorithm>
#include <cstddef>

#include "tests/support/combine.h"

namespace rankbox::testing {
namespace {

/// Returns the same elements of every rank's input, one rank after the other.
std::vector<std::int64_t> concatenation(const std::vector<Step>& steps, std::int64_t begin,
                                        std::int64_t end) {
  std::vector<std::int64_t> all;
  for (const Step& step : steps) {
    const std::vector<std::int64_t> part = elements_of(step, begin, end);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

/// Returns where the piece for rank `dst` begins in what rank `src` sends.
std::int64_t begin_of(std::int64_t count, std::int64_t src, std::int64_t dst) {
  std::int64_t begin = 0;
  for (std::int64_t before = 0; before < dst; ++before) begin += piece_of(count, src, before);
  return begin;
}

/// Returns what every rank sends to rank `dst`: piece `number` of its input, one after the other.
std::vector<std::int64_t> pieces(const std::vector<Step>& steps, std::int64_t number,
                                 std::int64_t dst) {
  std::vector<std::int64_t> all;
  for (std::size_t rank = 0; rank < steps.size(); ++rank) {
    const auto src = static_cast<std::int64_t>(rank);
    const std::int64_t begin = begin_of(steps[rank].count, src, number);
    const std::vector<std::int64_t> piece =
        elements_of(steps[rank], begin, begin + piece_of(steps[rank].count, src, dst));
    all.insert(all.end(), piece.begin(), piece.end());
  }
  return all;
}

std::vector<std::int64_t> reduction(const std::vector<Step>& steps, std::int64_t begin,
                                    std::int64_t end) {
  const ReduceOp op = steps.front().op;
  std::vector<std::int64_t> all = elements_of(steps.front(), begin, end);
  for (std::size_t rank = 1; rank < steps.size(); ++rank) {
    const std::vector<std::int64_t> part = elements_of(steps[rank], begin, end);
    for (std::size_t i = 0; i < part.size(); ++i) all[i] = combine(all[i], part[i], op);
  }
  if (op == ReduceOp::AVG) {
    for (std::int64_t& element : all) element /= static_cast<std::int64_t>(steps.size());
  }
  return all;
}

}  // namespace

std::vector<std::int64_t> elements_of(const Step& step, std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> made;
  for (std::int64_t i = begin; i < end; ++i) made.push_back(element_of(step, i));
  return made;
}

std::vector<std::int64_t> result_of_collective(const std::vector<Step>& steps,
                                               const std::vector<int>& ranks, int index) {
  const Step& mine = steps[static_cast<std::size_t>(index)];
  if (mine.kind == StepKind::kSplit) return {};
  const std::int64_t n = mine.count;
  const auto p = static_cast<std::int64_t>(steps.size());
  const std::int64_t begin = index * n / p;
  const std::int64_t end = (index + 1) * n / p;
  const auto root = std::find(ranks.begin(), ranks.end(), mine.peer) - ranks.begin();
  const auto root_input = [&](std::int64_t from, std::int64_t to) {
    return elements_of(steps[static_cast<std::size_t>(root)], from, to);
  };
  switch (mine.collective) {
    case CollectiveKind::kBroadcast:
      return root_input(0, n);
    case CollectiveKind::kReduce:
      return index == root ? reduction(steps, 0, n) : elements_of(mine, 0, n);
    case CollectiveKind::kAllReduce:
      return reduction(steps, 0, n);
    case CollectiveKind::kGather:
      return index == root ? concatenation(steps, 0, n) : elements_of(mine, 0, n);
    case CollectiveKind::kAllGather:
      return concatenation(steps, 0, n);
    case CollectiveKind::kScatter:
      return root_input(index * n, (index + 1) * n);
    case CollectiveKind::kReduceScatter:
      return reduction(steps, begin, end);
    case CollectiveKind::kAllToAll:
      return concatenation(steps, begin, end);
    case CollectiveKind::kGatherV:
      return index == root ? pieces(steps, 0, root)
                           : elements_of(mine, 0, piece_of(n, index, root));
    case CollectiveKind::kAllGatherV:
      return pieces(steps, 0, 0);
    case CollectiveKind::kScatterV:
      return root_input(begin_of(n, root, index), begin_of(n, root, index + 1));
    case CollectiveKind::kAllToAllV:
      return pieces(steps, index, index);
    case CollectiveKind::kBarrier:
    case CollectiveKind::kSplit:
      return {};
  }
  return {};
}

}  // namespace rankbox::testing
