// One rank's side of a run on NCCL: its communicators, its streams, and every wait.
//
// Non-blocking communicators: a call of NCCL returns at once, and ncclCommGetAsyncError tells when
// it is carried out. All waiting of the host goes through wait_until(), which looks at four things
// in turn: whether it is done, whether the world was stopped, whether NCCL found an error, and the
// deadline, which starts anew whenever a launch of this rank finishes. So every wait ends. What
// ends it badly also aborts the rank's communicators, on its own thread, and so frees its GPU.
//
// Two NCCL communicators stand behind each of ours. NCCL carries out the operations of one strictly
// one after the other, whatever the streams: an isend that waits for its receiver would hold up the
// collective that its receiver is in. With one communicator for messages and one for collectives
// they do not meet, nor are the messages inside a gather taken for the learner's. Each of ours also
// has a stream for what isend and irecv started: on one for all, a message of one communicator
// would hold up those of the others, which their receivers may ask for first.
//
// Thread safety: belongs to the rank's thread. No lock is held during a call of CUDA or NCCL.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <nccl.h>

#include "comm/collective_call.h"
#include "comm/slice.h"
#include "gpu/device/rank_device.h"
#include "gpu/nccl/error.h"
#include "gpu/nccl/launches.h"
#include "gpu/nccl/pending.h"
#include "gpu/nccl/record.h"
#include "gpu/nccl/world.h"

namespace rankbox::gpu {

/// A message that was called for and is not on a stream yet.
struct NcclMessage {
  bool sends = false;
  int peer = -1;  // index in the communicator
  Slice slice;
  bool blocks = true;                       // unlike isend and irecv
  std::uint64_t record = 0;                 // its number in NcclRecord
  std::weak_ptr<NcclPending> request = {};  // of isend and irecv
};

/// The rank in one communicator.
struct NcclMember {
  std::vector<int> world_ranks;  // by index
  int index = -1;
  std::uint64_t group = 0;  // the same on all members
  ncclComm_t collectives = nullptr;
  ncclComm_t messages = nullptr;
  cudaStream_t message_stream = nullptr;  // of isend and irecv
  std::int32_t* scratch = nullptr;        // device memory: see scratch_elements()
  int splits = 0;                         // called so far
  std::map<std::pair<bool, int>, std::uint64_t> message_counts;  // by sends and peer
  std::uint64_t collective_count = 0;
  std::vector<NcclMessage> deferred;  // to and from others
  std::deque<NcclMessage> to_self, from_self;

  int size() const { return static_cast<int>(world_ranks.size()); }
  int world_rank(int other) const {
    return other < 0 ? -1 : world_ranks[static_cast<std::size_t>(other)];
  }
};

class NcclRank {
 public:
  /// Joins the world, with all other ranks at once: makes the communicators, connects every pair,
  /// and runs each collective once, so that nothing is set up, loaded or connected later, when a
  /// GPU may be busy waiting. Blocks until all have come, or the deadline. From here on `device`
  /// waits through this.
  /// @param owner whose tensors are this rank's (MemoryMeter::owner)
  /// Throws NcclError, CudaError, TimedOut or Aborted; the world is stopped then.
  NcclRank(NcclWorld& world, RankDevice& device, std::uint64_t owner = 0,
           Place place = Place::current());
  /// Aborts, unless finish() has returned.
  ~NcclRank();
  NcclRank(const NcclRank&) = delete;
  NcclRank& operator=(const NcclRank&) = delete;

  /// The end of the rank's function: waits until all that it started is done, then destroys the
  /// communicators. Throws what a wait throws, and UnreceivedMessage for a request that was not
  /// waited for.
  void finish(Place place = Place::current());
  /// The other end: the rank's function threw this. Stops the world.
  void fail(std::exception_ptr failure) noexcept;

  NcclWorld& world() const { return world_; }
  RankDevice& device() const { return device_; }
  NcclRecord& record() { return record_; }
  /// The log of the rank's calls, once it has ended.
  FlightLog close_record() noexcept {
    record_.close(launches_);
    return record_.log();
  }
  NcclMember& world_member() { return members_.front(); }
  int rank() const { return device_.rank(); }
  std::uint64_t owner() const { return owner_; }
  std::int64_t messages_sent() const { return messages_sent_; }
  std::int64_t bytes_sent() const { return bytes_sent_; }

  // ---- Calls ----

  /// The beginning of every call: injects faults; throws if the world was stopped, or if a request
  /// was dropped that was not waited for: it may still be using memory, so nothing else begins.
  void begin(const Caller& caller);

  /// Calls NCCL, and waits until the communicator has carried it out: what `calls` put on a stream
  /// is there then.
  /// @param comm where the communicator is, also if it is only being made
  void issue(const Caller& caller, const Doing& doing, const char* name, ncclComm_t& comm,
             const std::function<ncclResult_t()>& calls);
  /// The same for what goes to a stream. Returns the launch.
  /// @param then puts more on the stream, which belongs to the launch
  std::uint64_t launch(const Caller& caller, const Doing& doing, const char* name, ncclComm_t& comm,
                       cudaStream_t stream, const std::function<ncclResult_t()>& calls,
                       const std::function<void()>& then = {});

  // ---- Messages: see messages.cc ----

  /// Those of one blocking call.
  void run(const Caller& caller, NcclMember& member, std::vector<NcclMessage> messages);
  std::shared_ptr<NcclPending> defer(const Caller& caller, NcclMember& member, NcclMessage message);
  /// Puts all deferred messages on a stream: one group for each communicator.
  /// @param but those of this communicator stay
  void flush(const Caller& caller, const NcclMember* but = nullptr);

  // ---- Requests ----

  /// @param peer a rank of the world; -1: none
  std::shared_ptr<NcclPending> make_pending(const Caller& caller, int peer) {
    return std::make_shared<NcclPending>(requests_, caller, peer);
  }
  void wait(const Caller& caller, NcclPending& pending);

  // ---- Waiting ----

  void synchronize(const Caller& caller);
  void wait_for_stream(const Caller& caller, cudaStream_t stream);
  /// Throws if the run has failed meanwhile, even if `done` holds.
  /// @param busy has a call under way: its state is for `done` to look at
  void wait_until(const Caller& caller, const std::function<bool()>& done,
                  const ncclComm_t* busy = nullptr);

  // ---- Communicators ----

  /// With its stream and its scratch memory.
  /// @param world_ranks empty: the rank was left out of it, and needs neither
  NcclMember& add_member(const Caller& caller, std::vector<int> world_ranks, int index,
                         std::uint64_t group);
  /// Connects every pair by sending a byte, so that no send has to do that later.
  void connect_pairs(const Caller& caller, NcclMember& member, ncclComm_t& comm);
  /// A communicator's own: the first number is that of its barriers, which may be under way while a
  /// split exchanges colors and keys in the others, from exchange_space() on.
  static constexpr std::int64_t scratch_elements(int size) { return 2 * size + 3; }
  static std::int32_t* exchange_space(const NcclMember& member) { return member.scratch + 1; }

  /// An error that ends the run: stops the world and this rank's communicators, and throws it.
  template <class E>
  [[noreturn]] void stop_and_throw(const E& error) {
    world_.stop(std::make_exception_ptr(error));
    abort();
    throw error;
  }

 private:
  void start(const Caller& caller);
  void make_communicators(const Caller& caller);
  void warm_collectives(const Caller& caller);
  void release_device();
  Caller caller(const char* operation, Place place) const;
  void launch(const Caller& caller, NcclMember& member, const std::vector<NcclMessage>& messages,
              cudaStream_t stream);
  void note(const Caller& caller, NcclMember& member, NcclMessage& message);
  void copy_to_self(const Caller& caller, NcclMember& member);
  void wait_for_all(const Caller& caller);
  void check_running(const Caller& caller);
  void check_communicators(const Caller& caller, const ncclComm_t* busy);
  [[noreturn]] void time_out(const Caller& caller, double seconds);
  /// Calls fn(ncclComm_t&) for every communicator that there is, the newest first.
  template <class Fn>
  void for_each_communicator(Fn fn);
  void abort() noexcept;
  void destroy(const Caller& caller, ncclComm_t& comm);

  NcclWorld& world_;
  RankDevice& device_;
  const std::uint64_t owner_;
  double deadline_seconds_;
  NcclLaunches launches_;
  NcclRecord record_;
  cudaEvent_t ready_ = nullptr;     // what deferred messages send is there, and their room too
  ncclComm_t root_ = nullptr;       // the first one, if its calls do not block and the others' do
  std::deque<NcclMember> members_;  // [0]: the world; references stay valid
  std::shared_ptr<NcclOpenRequests> requests_ = std::make_shared<NcclOpenRequests>();
  std::int64_t operations_ = 0;  // calls made
  std::int64_t messages_sent_ = 0;
  std::int64_t bytes_sent_ = 0;
};

/// For CUDA's and NCCL's errors.
inline Doing doing_of(const Caller& caller, int peer = -1, std::int64_t bytes = -1) {
  return {.op = caller.operation,
          .peer = peer,
          .bytes = bytes,
          .place = caller.place,
          .rank = caller.rank};
}

/// Whether to go on with the next call of a group.
inline bool went_well(ncclResult_t result) {
  return result == ncclSuccess || result == ncclInProgress;
}

/// One group of calls: `calls` stops at its first failure, and returns it.
template <class Calls>
ncclResult_t grouped(Calls calls) {
  const ncclResult_t start = ncclGroupStart();
  if (start != ncclSuccess) return start;
  const ncclResult_t inside = calls();
  const ncclResult_t end = ncclGroupEnd();  // also then: it closes the group
  return went_well(inside) ? end : inside;
}

}  // namespace rankbox::gpu
