// One rank's side of a run on NCCL: its communicators, its streams, and every wait.
//
// Non-blocking communicators: a call of NCCL returns at once, and ncclCommGetAsyncError tells when it
// is carried out. All waiting of the host goes through wait_until(), which looks at four things in
// turn: whether it is done, whether the world was stopped, whether NCCL found an error, and the
// deadline, which starts anew whenever something on this rank's GPU gets done. So every wait ends. What
// ends it badly also aborts the rank's communicators, on its own thread, and so frees its GPU.
//
// Two NCCL communicators stand behind each of ours. NCCL carries out the operations of one strictly
// one after the other, whatever the streams: an isend that waits for its receiver would hold up
// the collective that its receiver is in. With one communicator for messages and one for collectives
// they do not meet, nor are the messages inside a gather taken for the learner's. Each of ours also has
// a stream for what isend and irecv started: on one for all, a message of one communicator would hold
// up those of the others, which their receivers may ask for first.
//
// Thread safety: belongs to the rank's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <nccl.h>

#include "comm/slice.h"
#include "gpu/device/rank_device.h"
#include "gpu/nccl/error.h"
#include "gpu/nccl/flight_recorder.h"
#include "gpu/nccl/request.h"
#include "gpu/nccl/world.h"

namespace rankbox::gpu {

/// A message that was called for and is not on a stream yet.
struct NcclMessage {
  bool sends = false;
  bool blocks = false;  // unlike isend and irecv
  int peer = -1;        // index in the communicator
  Slice slice;
  std::uint64_t number = 0;  // of this rank's messages to (from) that peer, from 0
  std::uint64_t flight = 0;
  std::weak_ptr<NcclPending> request = {};  // of isend and irecv
};

/// The rank in one communicator.
struct NcclMember {
  NcclGroup* group = nullptr;
  int index = -1;
  ncclComm_t collectives = nullptr;
  ncclComm_t messages = nullptr;
  cudaStream_t message_stream = nullptr;                  // of isend and irecv
  std::int32_t* scratch = nullptr;                        // device memory: see scratch_elements()
  int splits = 0;                                         // called so far
  std::map<std::pair<bool, int>, std::uint64_t> numbers;  // messages so far: to (from) whom
  std::vector<NcclMessage> deferred;                      // to and from others
  std::deque<NcclMessage> to_self, from_self;
};

class NcclRank {
 public:
  /// Joins the world, with all other ranks at once: makes the communicators, connects every pair, and
  /// runs each collective once, so that nothing is set up, loaded or connected later, when a GPU may
  /// be busy waiting. Blocks until all have come, or the deadline. From here on `device` waits
  /// through this.
  /// @param owner whose tensors are this rank's (MemoryMeter::owner)
  /// Throws NcclError, CudaError, TimedOut or Aborted; the world is stopped then.
  NcclRank(NcclWorld& world, RankDevice& device, std::uint64_t owner = 0,
           Place place = Place::current());
  /// Aborts, unless finish() has returned.
  ~NcclRank();
  NcclRank(const NcclRank&) = delete;
  NcclRank& operator=(const NcclRank&) = delete;

  /// The end of the rank's function: waits until all that it started is done, then gives the
  /// communicators up. Throws what became of the world if that failed: UnreceivedMessage for a
  /// request that nobody waited for, or a message that nobody can receive any more.
  void finish(Place place = Place::current());
  /// The other end: the rank's function threw this. Stops the world.
  void fail(std::exception_ptr failure) noexcept;

  NcclWorld& world() const { return world_; }
  RankDevice& device() const { return device_; }
  FlightRecorder& recorder() { return recorder_; }
  NcclMember& world_member() { return members_.front(); }
  int rank() const { return device_.rank(); }
  std::uint64_t owner() const { return owner_; }

  // ---- Calls ----

  /// Throws if the world was stopped; or if a request of this rank's went that nobody waited for: what
  /// it stands for may still be using memory, so nothing else begins.
  void check_running(const Caller& caller);
  /// Compares a call with those of the other ranks, as far as they have come.
  void post(const Caller& caller, NcclMember& member, int src, int dst,
            const PostedMessage& message);
  void post(const Caller& caller, NcclMember& member, const CollectiveCall& call);
  /// From here on the rank waits for this request: if it is a message whose other side never comes,
  /// the rank can never go on.
  void note_wait(const Caller& caller, const NcclPending& pending);

  /// Calls NCCL, and waits until the communicator has carried it out: what `calls` put on a stream
  /// is there then.
  /// @param comm where the communicator is, also if it is only being made
  void issue(const Caller& caller, const Doing& doing, const char* name, ncclComm_t& comm,
             const std::function<ncclResult_t()>& calls);

  // ---- Messages: see nccl_messages.cc ----

  /// Leaves a message of isend or irecv to the next launch.
  void defer(NcclMember& member, const NcclMessage& message);
  /// Puts all deferred messages of the communicator, and these, on stream() as one group.
  void launch_with(const Caller& caller, NcclMember& member, std::vector<NcclMessage> messages);
  /// Puts deferred messages of the communicator on its message_stream: the first `rounds` to each
  /// peer, and the first `rounds` from each.
  void launch_rounds(const Caller& caller, NcclMember& member, int rounds);
  /// Puts all deferred messages of all communicators on their message_streams.
  void launch_deferred(const Caller& caller);
  /// Those only whose other side has come, or may have; and only if this rank's device waits for
  /// others, too.
  void launch_wanted(const Caller& caller, double waited);
  /// Copies what this rank sent and received itself, as far as both are there.
  void copy_to_self(NcclMember& member);

  // ---- Waiting ----

  // Deferred messages that others need meanwhile go to their streams.

  void wait_for_stream(const Caller& caller, cudaStream_t stream);
  void wait_for_event(const Caller& caller, cudaEvent_t event);
  /// Until all that this rank started is done.
  void wait_for_all(const Caller& caller);
  /// @param busy has a call under way: its state is for `done` to look at
  void wait_until(const Caller& caller, const std::function<bool()>& done,
                  const ncclComm_t* busy = nullptr);

  // ---- Communicators ----

  /// With its stream and its scratch memory.
  /// @param group null: the rank was left out of it, and needs neither
  NcclMember& add_member(const Caller& caller, NcclGroup* group, int index);
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
  friend class NcclPending;

  void start(const Caller& caller);
  void make_communicators(const Caller& caller);
  void warm_collectives(const Caller& caller);
  void release_device();
  void launch(const Caller& caller, NcclMember& member, const std::vector<NcclMessage>& messages,
              cudaStream_t stream);
  void launch_aside(const Caller& caller, NcclMember& member,
                    const std::vector<NcclMessage>& messages);
  template <class Query>
  void wait_for_device(const Caller& caller, const char* name, Query query);
  void look_around(const Caller& caller, const ncclComm_t* busy = nullptr);
  [[noreturn]] void time_out(const Caller& caller, double seconds);
  void note_dropped(const NcclPending& pending);
  /// Calls fn(ncclComm_t&) for every communicator that there is, the newest first.
  template <class Fn>
  void for_each_communicator(Fn fn);
  void abort() noexcept;
  void give_up(const Caller& caller, ncclComm_t& comm);

  NcclWorld& world_;
  RankDevice& device_;
  const std::uint64_t owner_;
  FlightRecorder recorder_;
  cudaEvent_t ready_ = nullptr;     // what deferred messages send is there, and their room too
  ncclComm_t root_ = nullptr;       // the first one, if its calls do not block and the others' do
  std::deque<NcclMember> members_;  // [0]: the world; references stay valid
  std::vector<NcclPending*> open_;  // not waited for
  std::unique_ptr<Error> dropped_;  // the first that nobody can wait for any more
};

/// Which message to (from) its peer the request is, among those that are deferred: 1 is the first.
int rounds_until(const NcclPending& request);

/// For CUDA's and NCCL's errors.
inline Doing doing_of(const Caller& caller, int peer = -1, std::int64_t bytes = -1) {
  return {.op = caller.operation,
          .peer = peer,
          .bytes = bytes,
          .place = caller.place,
          .rank = caller.rank};
}

/// One group of calls: `calls` stops at its first failure, and returns it.
template <class Calls>
ncclResult_t grouped(Calls calls) {
  ncclResult_t start = ncclGroupStart();
  if (start != ncclSuccess) return start;
  const ncclResult_t inside = calls();
  const ncclResult_t end = ncclGroupEnd();  // also then: it closes the group
  return inside == ncclSuccess || inside == ncclInProgress ? end : inside;
}

/// Whether to go on with the next call of a group.
inline bool went_well(ncclResult_t result) {
  return result == ncclSuccess || result == ncclInProgress;
}

}  // namespace rankbox::gpu
