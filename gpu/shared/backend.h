// Comm of ranks that share GPUs: the sandbox's, with data moved on streams (gpu/shared/plane.h).
//
// Calls return when their work is on the rank's stream. A barrier and synchronize() also wait for
// it.
#pragma once

#include <functional>

#include "sim/communicator.h"

namespace rankbox::gpu {

/// The primitives of BasicCommunicator.
class SharedBackend : public sim::Backend {
 public:
  explicit SharedBackend(const sim::Backend& sandbox) : sim::Backend(sandbox) {}

  void run(const Caller& caller, const CollectiveCall& call);
  SharedBackend split(const Caller& caller, const CollectiveCall& call);
  void synchronize(const Caller& caller);

  // See gpu/communicator.h.
  void set_timed(bool timed);
  void call_in_group(const std::function<void()>& calls) { calls(); }
};

}  // namespace rankbox::gpu
