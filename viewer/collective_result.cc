#include "viewer/collective_result.h"

#include <numeric>

#include "comm/dtype.h"

namespace rankbox {
namespace {

HeldRuns concatenated(const std::vector<HeldRuns>& parts) {
  HeldRuns all;
  for (const HeldRuns& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

HeldRuns result_of(const Meeting& meeting, const Event& event, std::size_t index, std::size_t root,
                   std::int64_t in_bytes, std::int64_t out_bytes) {
  const std::size_t p = meeting.in.size();
  const auto part = [&](std::size_t of, std::int64_t begin, std::int64_t end) {
    return part_of(*meeting.in[of], begin, end);
  };
  const auto sum_of = [&](std::int64_t begin, std::int64_t end) {
    HeldRuns sum = part(index, begin, end);
    for (std::size_t other = 0; other < p; ++other) {
      if (other != index) sum = combined(sum, part(other, begin, end), event.op);
    }
    return sum;
  };
  const std::int64_t size = size_of(event.dtype);
  const auto chunk_begin = [&](std::int64_t i) {
    return i * (in_bytes / size) / static_cast<std::int64_t>(p) * size;
  };
  std::vector<HeldRuns> parts;
  const auto at = static_cast<std::int64_t>(index);
  switch (event.collective) {
    case CollectiveKind::kBarrier:
    case CollectiveKind::kSplit:
      return {};
    case CollectiveKind::kBroadcast:
      return *meeting.in[root];
    case CollectiveKind::kReduce:
    case CollectiveKind::kAllReduce:
      return sum_of(0, in_bytes);
    case CollectiveKind::kGather:
    case CollectiveKind::kAllGather:
    case CollectiveKind::kGatherV:
    case CollectiveKind::kAllGatherV:
      for (const auto& in : meeting.in) parts.push_back(*in);
      return concatenated(parts);
    case CollectiveKind::kScatter:
    case CollectiveKind::kScatterV: {
      const auto before = meeting.out_bytes.begin() + at;
      const std::int64_t begin =
          std::accumulate(meeting.out_bytes.begin(), before, std::int64_t{0});
      return part(root, begin, begin + out_bytes);
    }
    case CollectiveKind::kReduceScatter:
      return sum_of(chunk_begin(at), chunk_begin(at + 1));
    case CollectiveKind::kAllToAll:
      for (std::size_t other = 0; other < p; ++other)
        parts.push_back(part(other, chunk_begin(at), chunk_begin(at + 1)));
      return concatenated(parts);
    case CollectiveKind::kAllToAllV:  // the trace does not have the sizes of the pieces
      return {{out_bytes, HeldContents::unheld(HeldContents::State::kUntouched, 0)}};
  }
  return {};
}

}  // namespace rankbox
