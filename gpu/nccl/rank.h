// One rank's side of a run on NCCL: communicators, streams and waits.
//
// Communicators are non-blocking: an NCCL call returns at once, and ncclCommGetAsyncError reports
// when it completes. The host waits only in wait_until(). It checks in turn whether the wait is
// done, the world was stopped, NCCL found an error, or the deadline passed. The deadline restarts
// whenever a launch of this rank finishes. So every wait ends. A wait that fails also aborts the
// rank's communicators, on the rank's thread, which frees its GPU. An abort that does not return
// ends the process (watchdog.h).
//
// CUDA must not make the host wait, because no deadline ends that: it blocks a launch when about
// 1,000 are queued. So a call that leaves 64 calls of NCCL in flight, or 512 other kernels and
// copies on stream(), waits for the oldest, after it has launched all deferred messages. The two
// are counted apart: stream() executes the kernels and copies in order, so the oldest one waits for
// no later call of the program, as an asynchronous call may.
//
// Each of our communicators has two NCCL communicators. NCCL executes the operations of one
// strictly in order, on whatever streams. An isend that waits for its receiver would delay the
// collective that its receiver is in. One communicator for messages and one for collectives keep
// them apart; they also keep a gather's messages from matching the learner's. Each of ours also has
// a stream for isend and irecv, and one for asynchronous collectives. On one stream for all, an
// operation of one communicator would delay those of the others, which other ranks may need first.
//
// Thread safety: only the rank's thread may use it. It holds no lock during a CUDA or NCCL call.
#pragma once

#include <algorithm>
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
#include "gpu/nccl/watchdog.h"
#include "gpu/nccl/world.h"

namespace rankbox::gpu {

/// A message that is not on a stream yet.
struct NcclMessage {
  bool sends = false;
  int peer = -1;  // index in the communicator
  Slice slice;
  bool blocks = true;                       // false for isend and irecv
  std::uint64_t record = 0;                 // its number in NcclRecord
  std::weak_ptr<NcclPending> request = {};  // for isend and irecv
};

/// The rank in one communicator.
struct NcclMember {
  std::vector<int> world_ranks;  // by index
  int index = -1;
  std::uint64_t group = 0;  // the same on all members
  ncclComm_t collectives = nullptr;
  ncclComm_t messages = nullptr;
  // Created at their first use: a GPU has 32 hardware queues, and streams that share one wait for
  // each other.
  cudaStream_t message_stream = nullptr;     // for isend and irecv
  cudaStream_t collective_stream = nullptr;  // for asynchronous collectives
  std::int32_t* scratch = nullptr;           // device memory: see scratch_elements()
  // What splits of this one made, by the colors and keys of all its ranks: see split.cc.
  std::map<std::vector<std::int32_t>, std::vector<NcclMember*>> parts;
  int parts_made = 0;
  std::weak_ptr<const void> user;  // alive while a Comm of the program is this communicator
  std::map<std::pair<bool, int>, std::uint64_t> message_counts;  // by (sends, peer)
  std::uint64_t collective_count = 0;
  std::vector<NcclMessage> deferred;  // messages to and from other ranks
  std::deque<NcclMessage> to_self, from_self;

  int size() const { return static_cast<int>(world_ranks.size()); }
  int world_rank(int other) const {
    return other < 0 ? -1 : world_ranks[static_cast<std::size_t>(other)];
  }
};

class NcclRank {
 public:
  /// @param owner the owner of this rank's tensors (MemoryMeter::owner)
  NcclRank(NcclWorld& world, RankDevice& device, std::uint64_t owner = 0);
  /// Aborts, unless finish() has returned.
  /// REQUIRES: no rank of this process communicates any more, for ncclCommDestroy and ncclCommAbort
  /// may free device memory, which waits for all GPUs whose memory NCCL has made accessible.
  ~NcclRank();
  NcclRank(const NcclRank&) = delete;
  NcclRank& operator=(const NcclRank&) = delete;

  /// Joins the world together with all other ranks: creates the communicators, connects every pair,
  /// and runs each collective once. So nothing is loaded or connected later, when a GPU may be busy
  /// waiting; only streams are created at their first use. Blocks until all ranks have joined, or
  /// until the deadline. From then on the device waits through this object.
  /// Throws NcclError, CudaError, TimedOut or Aborted, after stopping the world.
  void join(Place place = Place::current());
  /// Ends a rank whose function returned: waits for all its operations, then destroys the
  /// communicators. Throws what a wait throws, and UnreceivedMessage for a request that was not
  /// waited for.
  void finish(Place place = Place::current());
  /// Ends a rank whose function threw `failure`: stops the world.
  void fail(std::exception_ptr failure) noexcept;

  NcclWorld& world() const { return world_; }
  RankDevice& device() const { return device_; }
  NcclRecord& record() { return record_; }
  /// Returns the log of the rank's calls, at its end.
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

  /// Begins every call. Throws if the world was stopped, or if a request was
  /// destroyed unwaited: its operation may still use memory, so nothing else may begin.
  void begin(const Caller& caller);
  /// Throws InvalidArgument if NCCL cannot reach the slice from this GPU: a tensor that was made
  /// outside of this run stays on the GPU on which it was made.
  void check_is_here(const Caller& caller, Slice slice) const;

  /// Calls NCCL, and blocks until the communicator has completed the call: the work of `calls` is
  /// on its stream then.
  /// @param comm the communicator's variable, also while it is being created
  void issue(const Caller& caller, const Doing& doing, const char* name, ncclComm_t& comm,
             const std::function<ncclResult_t()>& calls);
  /// The same for work on a stream. Returns the launch.
  /// @param then enqueues more work that belongs to the launch
  /// @param is_awaited false: while calls are timed, only every eighth launch has an event, which
  ///     takes about as long to record as a launch; of the others the result is 0. So up to 512
  ///     launches are in flight, and CUDA may block the host: no deadline of the rank ends that
  std::uint64_t launch(const Caller& caller, const Doing& doing, const char* name, ncclComm_t& comm,
                       cudaStream_t stream, const std::function<ncclResult_t()>& calls,
                       const std::function<void()>& then = {}, bool is_awaited = true);
  /// Blocks until fewer than NcclLaunches::kMost launches are in flight. Called after a call's
  /// launch, except after those of flush(): the oldest launch may wait for these.
  void make_room(const Caller& caller);

  /// See gpu/communicator.h.
  void set_timed(bool timed);
  bool is_timed() const { return timed_; }
  /// Runs calls() in one group of NCCL's calls, and blocks until all of them are on stream().
  void call_in_group(const Caller& caller, ncclComm_t& comm, const std::function<void()>& calls);

  // ---- Messages: see messages.cc ----

  /// Runs the messages of one blocking call.
  void run(const Caller& caller, NcclMember& member, std::vector<NcclMessage> messages);
  std::shared_ptr<NcclPending> defer(const Caller& caller, NcclMember& member, NcclMessage message);
  /// Enqueues all deferred messages: one group per communicator.
  /// @param but this communicator's messages stay deferred
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
  /// Throws if the run has failed meanwhile, even if `done` returns true.
  /// @param busy has a call in flight; only `done` may query its state
  void wait_until(const Caller& caller, const std::function<bool()>& done,
                  const ncclComm_t* busy = nullptr);

  // ---- Communicators ----

  /// Calls create(), which creates and connects communicators: its waits have the deadline of the
  /// start, because that takes NCCL seconds, in which no launch shows progress.
  template <class Create>
  void with_start_deadline(Create create) {
    deadline_seconds_ =
        std::max(world_.settings().start_seconds, world_.settings().deadline_seconds);
    create();
    deadline_seconds_ = world_.settings().deadline_seconds;
  }
  /// Returns the member's stream, which its first use creates.
  cudaStream_t created(const Caller& caller, cudaStream_t& stream);
  /// Adds a communicator with its scratch memory.
  /// @param world_ranks empty: the communicator excludes this rank, which then needs neither
  NcclMember& add_member(const Caller& caller, std::vector<int> world_ranks, int index,
                         std::uint64_t group);
  /// Connects every pair by sending a byte, so that no later send has to.
  void connect_pairs(const Caller& caller, NcclMember& member, ncclComm_t& comm);
  /// Splits `parent`, and blocks until `made` can be used; with a negative color it stays null.
  /// @param config null: that of the parent
  void split_communicator(const Caller& caller, ncclComm_t& parent, int color, int key,
                          ncclComm_t& made, ncclConfig_t* config = nullptr);
  /// Each communicator has its own scratch memory. The first number is for its barriers, which may
  /// be in flight while a split exchanges colors and keys in the others, from exchange_space() on.
  static constexpr std::int64_t scratch_elements(int size) { return 2 * size + 3; }
  static std::int32_t* exchange_space(const NcclMember& member) { return member.scratch + 1; }

  /// Ends the run: stops the world and this rank's communicators, and throws the error.
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
  void throttle(const Doing& doing);
  Caller caller(const char* operation, Place place) const;
  void launch(const Caller& caller, NcclMember& member, const std::vector<NcclMessage>& messages,
              cudaStream_t stream);
  void note(const Caller& caller, NcclMember& member, NcclMessage& message);
  void mark_ready(const Caller& caller);
  void copy_to_self(const Caller& caller, NcclMember& member);
  void wait_for_all(const Caller& caller);
  void check_running(const Caller& caller);
  void check_communicators(const Caller& caller, const ncclComm_t* busy);
  [[noreturn]] void time_out(const Caller& caller, double seconds);
  /// Calls fn(ncclComm_t&) for every existing communicator, the newest first.
  template <class Fn>
  void for_each_communicator(Fn fn);
  void abort() noexcept;
  void abort_communicators();
  /// Watches a call for as long as a start may take.
  Watchdog watch(const char* call);
  void destroy(const Caller& caller, ncclComm_t& comm);

  NcclWorld& world_;
  RankDevice& device_;
  const std::uint64_t owner_;
  double deadline_seconds_;
  NcclLaunches launches_;  // calls of NCCL, on any stream
  NcclLaunches marks_;     // on stream(), one after kWorkPerMark other kernels and copies
  int unmarked_ = 0;       // kernels and copies since the latest mark
  NcclRecord record_;
  cudaEvent_t ready_ = nullptr;     // the buffers of deferred messages are ready
  bool has_new_work_ = true;        // stream() has, since that was recorded
  ncclComm_t root_ = nullptr;       // the first communicator, if only its calls do not block
  std::deque<NcclMember> members_;  // [0]: the world; references stay valid
  std::shared_ptr<NcclOpenRequests> requests_ = std::make_shared<NcclOpenRequests>();
  bool timed_ = false;
  bool in_group_ = false;  // of call_in_group(): nothing is on a stream before it ends
  bool aborts_after_group_ = false;
  int launches_without_event_ = 0;  // since the last one with an event, while timed
  std::int64_t messages_sent_ = 0;
  std::int64_t bytes_sent_ = 0;
};

/// For errors of CUDA and NCCL.
inline Doing doing_of(const Caller& caller, int peer = -1, std::int64_t bytes = -1) {
  return {.op = caller.operation,
          .peer = peer,
          .bytes = bytes,
          .place = caller.place,
          .rank = caller.rank};
}

/// Returns whether the next call of a group may follow.
inline bool went_well(ncclResult_t result) {
  return result == ncclSuccess || result == ncclInProgress;
}

/// Runs one group of calls. `calls` stops at its first failure, and returns it.
template <class Calls>
ncclResult_t grouped(Calls calls) {
  const ncclResult_t start = ncclGroupStart();
  if (start != ncclSuccess) return start;
  const ncclResult_t inside = calls();
  const ncclResult_t end = ncclGroupEnd();  // after a failure, too: it closes the group
  return went_well(inside) ? end : inside;
}

/// Runs call(0), …, call(ranks - 1) as one group, until one fails.
template <class Call>
ncclResult_t grouped_by_rank(int ranks, Call call) {
  return grouped([&] {
    ncclResult_t result = ncclSuccess;
    for (int rank = 0; rank < ranks && went_well(result); ++rank) result = call(rank);
    return result;
  });
}

}  // namespace rankbox::gpu
