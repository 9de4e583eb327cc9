#include "gpu/shared/backend.h"

#include "comm/collective_call.h"
#include "gpu/device_here.h"

namespace rankbox::gpu {

void SharedBackend::run(const Caller& caller, const CollectiveCall& call) {
  // As with NCCL, whose barrier is enqueued on the streams: the ranks' earlier work is done.
  if (call.kind == CollectiveKind::kBarrier)
    device_here().synchronize(0, {.op = caller.operation, .place = caller.place});
  sim::Backend::run(caller, call);
}

SharedBackend SharedBackend::split(const Caller& caller, const CollectiveCall& call) {
  return SharedBackend(sim::Backend::split(caller, call));
}

void SharedBackend::set_timed(bool timed) { device_here().set_spins(timed); }

void SharedBackend::synchronize(const Caller& caller) {
  device_here().synchronize(0, {.op = caller.operation, .place = caller.place});
}

}  // namespace rankbox::gpu
