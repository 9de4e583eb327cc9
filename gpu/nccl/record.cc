#include "gpu/nccl/record.h"

#include "gpu/nccl/rank.h"

namespace rankbox::gpu {

void NcclRecord::add_group(const NcclMember& member, Place made) {
  recorder_.add_group(member.group, member.world_ranks, made);
}

std::uint64_t NcclRecord::begin(const Caller& caller, const FlightCall& call) {
  latest_ = call;
  if (!on_) return FlightRecorder::kNotNoted;
  const std::uint64_t number =
      recorder_.begin({.op = caller.operation, .place = caller.place, .call = call});
  launches_[number % FlightRecorder::kSize] = 0;
  return number;
}

std::uint64_t NcclRecord::begin(const Caller& caller, NcclMember& member,
                                const NcclMessage& message) {
  return begin(caller, {.kind = message.sends ? FlightKind::kSend : FlightKind::kRecv,
                        .async = !message.blocks,
                        .dtype = message.slice.dtype(),
                        .peer = member.world_rank(message.peer),
                        .count = message.slice.size(),
                        .group = member.group,
                        .number = member.message_counts[{message.sends, message.peer}]++});
}

std::uint64_t NcclRecord::begin(const Caller& caller, NcclMember& member,
                                const CollectiveCall& call, bool async) {
  const bool has_data =
      call.kind != CollectiveKind::kBarrier && call.kind != CollectiveKind::kSplit;
  return begin(caller, {.kind = FlightKind::kCollective,
                        .async = async,
                        .collective = call.kind,
                        .reduce_op = call.op,
                        .dtype = call.dtype,
                        .root = member.world_rank(call.root),
                        .count = has_data ? call.count : -1,
                        .group = member.group,
                        .number = member.collective_count++});
}

std::uint64_t NcclRecord::begin_wait(const Caller& caller, FlightCall waited_for) {
  waited_for.async = false;
  waited_for.waits = true;
  return begin(caller, waited_for);
}

std::uint64_t NcclRecord::begin_local(const Caller& caller) {
  return begin(caller, FlightCall{.kind = FlightKind::kLocal});
}

void NcclRecord::launched(std::uint64_t number, std::uint64_t launch) {
  // The ring may have dropped a message that was deferred for long.
  if (number == FlightRecorder::kNotNoted) return;
  if (number + FlightRecorder::kSize <= recorder_.recorded()) return;
  recorder_.set_state(number, FlightState::kEnqueued);
  launches_[number % FlightRecorder::kSize] = launch;
}

void NcclRecord::close(NcclLaunches& launches) noexcept {
  if (closed_) return;
  closed_ = true;
  const std::uint64_t recorded = recorder_.recorded();
  const std::uint64_t first =
      recorded < FlightRecorder::kSize ? 0 : recorded - FlightRecorder::kSize;
  try {
    for (std::uint64_t number = first; number < recorded; ++number) {
      const std::uint64_t launch = launches_[number % FlightRecorder::kSize];
      if (launch != 0 && launches.is_finished(launch)) done(number);
    }
  } catch (const Error&) {  // the GPU failed: nothing more is known to have finished
  }
  try {
    log_ = recorder_.log();
  } catch (...) {  // out of memory: the log stays empty
  }
}

}  // namespace rankbox::gpu
