// Comm for tensors on GPUs: one of two backends, which gpu/run_world.cc chooses for each run.
//
//   NCCL     one GPU per rank: see gpu/nccl/backend.h
//   sharing  fewer GPUs than ranks: the sandbox's communicator, which moves data within and between
//            the available GPUs: see gpu/shared/plane.h
//
// The two differ in what they measure and in how they report mistakes. The sandbox proves
// deadlocks. With NCCL a wait ends with TimedOut, and a post-mortem names the calls that do not
// match.
//
// In both, calls return once their work is enqueued on the rank's stream. barrier(), synchronize()
// and to_host() wait for it on the host.
//
// Cost: one branch per call. Thread safety: as comm's. Errors: as comm's, plus NcclError and
// CudaError.
#pragma once

#include <functional>
#include <utility>
#include <variant>

#include "comm/communicator.h"
#include "gpu/nccl/backend.h"
#include "sim/communicator.h"

namespace rankbox::gpu {

/// The sandbox's backend, for ranks that share GPUs. A barrier and synchronize() also wait for the
/// rank's stream.
class SharedBackend : public sim::Backend {
 public:
  explicit SharedBackend(const sim::Backend& sandbox) : sim::Backend(sandbox) {}

  void run(const Caller& caller, const CollectiveCall& call);
  SharedBackend split(const Caller& caller, const CollectiveCall& call);
  void synchronize(const Caller& caller);
  void set_timed(bool timed);
  void call_in_group(const std::function<void()>& calls) { calls(); }
};

/// The primitives of BasicCommunicator, forwarded to the selected backend.
class Backend {
 public:
  /// Holds the alternative that matches the backend's.
  using Pending = std::variant<SharedBackend::Pending, NcclBackend::Pending>;

  explicit Backend(SharedBackend shared) : which_(shared) {}
  explicit Backend(NcclBackend nccl) : which_(nccl) {}

  int rank() const;
  int size() const;
  int node() const;
  int local_rank() const;

  Caller caller(const char* operation, Place place) const;
  void begin(const Caller& caller);

  void send(const Caller& caller, Slice slice, int dst);
  void recv(const Caller& caller, Slice slice, int src);
  void sendrecv(const Caller& caller, Slice out, int dst, Slice in, int src);
  Pending isend(const Caller& caller, Slice slice, int dst);
  Pending irecv(const Caller& caller, Slice slice, int src);

  void run(const Caller& caller, const CollectiveCall& call);
  Pending start(const Caller& caller, const CollectiveCall& call);
  Backend split(const Caller& caller, const CollectiveCall& call);

  void wait(const Caller& caller, const Pending& pending);
  static const Caller* starter(const Pending& pending);

  void compute(const Caller& caller, double seconds, Label label);
  void synchronize(const Caller& caller);

  // ---- For programs that take times ----

  /// While calls of this rank are timed, waits never sleep. On NCCL, calls are also not noted for
  /// the post-mortem, most launches have no event, and AVG of native collectives is ncclAvg.
  void set_timed(bool timed);
  /// Runs calls(), which may call blocking native collectives other than barrier(). On NCCL they
  /// are one group: NCCL launches them together.
  /// REQUIRES: set_timed(true), RunOptions::blocking_calls.
  void call_in_group(const std::function<void()>& calls);

 private:
  std::variant<SharedBackend, NcclBackend> which_;
};

using Communicator = BasicCommunicator<Backend>;

}  // namespace rankbox::gpu

extern template class rankbox::BasicCommunicator<rankbox::gpu::Backend>;
