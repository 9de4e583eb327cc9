#include "verdict/broadcast.h"

#include "verdict/compare.h"
#include "verdict/inputs.h"
#include "verdict/tables.h"

namespace rankbox {

namespace {

Tensor tensor_before(const Comm& dist, const Case& example) {
  const bool has_it = dist.rank() == example.root.value();
  return has_it ? elements_of(dist.rank(), *example.count) : poison(*example.count);
}

std::optional<Difference> compare_after(const Tensor& tensor, const Case& example) {
  return compare_moved("tensor", tensor, *example.count, example.world_size,
                       [&](std::int64_t i) { return element(*example.root, i); });
}

}  // namespace

std::vector<Case> Broadcast::cases() const { return cases_by_root(); }

std::optional<Difference> Broadcast::run(Comm& dist, const Case& example) const {
  Tensor tensor = tensor_before(dist, example);
  function_(dist, tensor, *example.root);
  return compare_after(tensor, example);
}

Cost Broadcast::cost(const Case& example) const {
  return form_(example.world_size, *example.count, kElementBytes);
}

std::vector<Case> SegmentedBroadcast::cases() const {
  // One segment is the plain ring; more segments than elements leave some of them empty.
  std::vector<Case> cases;
  for (Case example : cases_by_root()) {
    const bool every_number = example.root == example.world_size - 1;
    for (int segments : {1, 3, 8}) {
      if (segments != 3 && !every_number) continue;
      example.segments = segments;
      cases.push_back(example);
    }
  }
  return cases;
}

std::optional<Difference> SegmentedBroadcast::run(Comm& dist, const Case& example) const {
  Tensor tensor = tensor_before(dist, example);
  function_(dist, tensor, *example.root, *example.segments);
  return compare_after(tensor, example);
}

Cost SegmentedBroadcast::cost(const Case& example) const {
  return form_(example.world_size, *example.count, kElementBytes, *example.segments);
}

}  // namespace rankbox
