#include "sim/reduction.h"

#include "sim/rank_state.h"

namespace rankbox::sim {

Event* begin_reduction(Slice into, Slice from, ReduceOp op) {
  RankState* rank = current_rank();
  if (rank == nullptr) return nullptr;
  rank->recorder.reserve();
  Event& event = rank->recorder.begin(EventKind::kReduce, Place());
  event.bytes = from.bytes();
  event.dtype = from.dtype();
  event.op = op;
  rank->recorder.note(event, into, from);
  return &event;
}

void end_reduction(Event* event, Slice into) {
  if (event != nullptr) current_rank()->recorder.end(*event, into);
}

}  // namespace rankbox::sim
