#include "gpu/nccl/rank.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "comm/flight_recorder.h"
#include "comm/rank_failure.h"
#include "gpu/device_here.h"

namespace rankbox::gpu {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr double kLookAtLaunches = 5e-3;  // seconds between two checks for progress
constexpr int kWorkPerMark = 8;
constexpr int kTimedLaunchesPerEvent = 8;

double seconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

/// Spins for short waits, and yields the core in long ones.
/// @param spins never sleeps
void pause(double waited, bool spins = false) {
  if (waited < 100e-6) return;
  if (spins || waited < 2e-3) return std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::microseconds(waited < 20e-3 ? 20 : 200));
}

/// Reads atomically: until the call completes, NCCL's own thread may write there.
ncclComm_t load(ncclComm_t& comm) {
  return std::atomic_ref<ncclComm_t>(comm).load(std::memory_order_acquire);
}

ncclResult_t state_of(ncclComm_t comm) {
  ncclResult_t state = ncclSuccess;
  const ncclResult_t asked = ncclCommGetAsyncError(comm, &state);
  return asked == ncclSuccess ? state : asked;
}

}  // namespace

NcclRank::NcclRank(NcclWorld& world, RankDevice& device, std::uint64_t owner)
    : world_(world),
      device_(device),
      owner_(owner),
      deadline_seconds_(world.settings().start_seconds),
      record_(device.rank()) {
  requests_->device = &device;
}

void NcclRank::join(Place place) {
  try {
    start(caller("start", place));
  } catch (...) {
    fail(std::current_exception());
    throw;
  }
  deadline_seconds_ = world_.settings().deadline_seconds;
  device_.set_waiter([this](const Doing& doing) {
    const Caller waiter = caller(*doing.op == '\0' ? "synchronize" : doing.op, doing.place);
    const std::uint64_t record = record_.begin_local(waiter);
    flush(waiter);
    wait_for_stream(waiter, device_.stream());
    record_.done(record);
  });
  device_.set_make_room([this](const Doing& doing) { throttle(doing); });
}

NcclRank::~NcclRank() {
  device_.set_waiter(nullptr);
  device_.set_make_room(nullptr);
  requests_->device = nullptr;
  abort();
  release_device();
}

Caller NcclRank::caller(const char* operation, Place place) const {
  return {rank(), owner_, rank(), world_.settings().world_size, operation, place};
}

void NcclRank::release_device() {
  for (const NcclMember& member : members_) {
    device_.give_back(member.message_stream);
    device_.give_back(member.collective_stream);
    device_.release(member.scratch);
  }
  if (ready_ != nullptr) static_cast<void>(cudaEventDestroy(ready_));
  static_cast<void>(cudaGetLastError());
}

void NcclRank::finish(Place place) {
  const Caller caller = this->caller("return", place);
  check_running(caller);
  if (!requests_->open.empty()) stop_and_throw(requests_->open.front()->as_dropped());
  record_.set_returned();
  wait_for_all(caller);
  launches_.clear();
  record_.close(launches_);
  for_each_communicator([&](ncclComm_t& comm) { destroy(caller, comm); });
}

void NcclRank::fail(std::exception_ptr failure) noexcept {
  world_.stop(std::move(failure));
  abort();
}

// ---- Calls ---------------------------------------------------------------------------------

void NcclRank::begin(const Caller& caller) { check_running(caller); }

void NcclRank::check_is_here(const Caller& caller, Slice slice) const {
  const int device = device_of(slice, device_.device());
  if (device == device_.device()) return;
  refuse(caller, fmt::format("the tensor was made outside of this run, on GPU {}, and this rank's "
                             "is GPU {}: pass a clone() of it",
                             device, device_.device()));
}

void NcclRank::check_running(const Caller& caller) {
  if (world_.is_stopped()) [[unlikely]] {
    abort();
    world_.throw_stopped(caller);
  }
  if (requests_->dropped) [[unlikely]]
    stop_and_throw(*requests_->dropped);
}

void NcclRank::issue(const Caller& caller, const Doing& doing, const char* name, ncclComm_t& comm,
                     const std::function<ncclResult_t()>& calls) {
  ncclResult_t state = calls();
  if (state == ncclInProgress) {
    const auto carried_out = [&] {
      state = state_of(load(comm));
      return state != ncclInProgress;
    };
    wait_until(caller, carried_out, &comm);
  }
  if (state != ncclSuccess) stop_and_throw(nccl_error(state, name, doing, load(comm)));
}

void NcclRank::set_timed(bool timed) {
  timed_ = timed;
  record_.set_on(!timed);
}

std::uint64_t NcclRank::launch(const Caller& caller, const Doing& doing, const char* name,
                               ncclComm_t& comm, cudaStream_t stream,
                               const std::function<ncclResult_t()>& calls,
                               const std::function<void()>& then, bool is_awaited) {
  issue(caller, doing, name, comm, calls);
  if (then) then();
  has_new_work_ = true;
  if (in_group_) return 0;
  if (timed_ && !is_awaited && ++launches_without_event_ < kTimedLaunchesPerEvent) return 0;
  launches_without_event_ = 0;
  return launches_.add(stream, doing);
}

void NcclRank::make_room(const Caller& caller) {
  if (in_group_ || launches_.has_room()) return;
  flush(caller);  // the oldest may wait for a rank that first needs a deferred message
  wait_until(caller, [this] { return launches_.has_room(); });
}

void NcclRank::call_in_group(const Caller& caller, ncclComm_t& comm,
                             const std::function<void()>& calls) {
  flush(caller);
  std::exception_ptr failure;  // the group must be closed all the same
  in_group_ = true;
  issue(caller, doing_of(caller), "ncclGroupEnd", comm, [&] {
    const ncclResult_t result = grouped([&] {
      try {
        calls();
      } catch (...) {
        failure = std::current_exception();
      }
      return ncclSuccess;
    });
    in_group_ = false;
    return failure == nullptr ? result : ncclSuccess;
  });
  if (aborts_after_group_) abort();
  if (failure != nullptr) std::rethrow_exception(failure);
  launches_.add(device_.stream(), doing_of(caller));
  make_room(caller);
}

void NcclRank::throttle(const Doing& doing) {
  has_new_work_ = true;
  if (++unmarked_ < kWorkPerMark) return;
  unmarked_ = 0;
  if (!marks_.has_room()) {
    const Caller waiter = this->caller(doing.op, doing.place);
    flush(waiter);  // stream() may wait for a rank that first needs a deferred message
    wait_until(waiter, [this] { return marks_.has_room(); });
  }
  marks_.add(device_.stream(), doing);
}

// ---- Waiting -------------------------------------------------------------------------------

void NcclRank::check_communicators(const Caller& caller, const ncclComm_t* busy) {
  for_each_communicator([&](ncclComm_t& comm) {
    if (&comm == busy) return;
    const ncclResult_t state = state_of(load(comm));
    if (went_well(state)) return;
    stop_and_throw(nccl_error(state, "an earlier operation", doing_of(caller), load(comm)));
  });
}

void NcclRank::time_out(const Caller& caller, double seconds) {
  stop_and_throw(TimedOut(fmt::format("rank {}, {}: no progress on its GPU for {:.3g} s",
                                      caller.rank, call_in_words(caller), seconds),
                          caller.context()));
}

void NcclRank::wait_until(const Caller& caller, const std::function<bool()>& done,
                          const ncclComm_t* busy) {
  const SteadyClock::time_point start = SteadyClock::now();
  SteadyClock::time_point progress = start;
  SteadyClock::time_point looked = start;
  std::uint64_t finished = 0;
  while (!done()) {
    check_running(caller);
    check_communicators(caller, busy);
    if (seconds_since(looked) > kLookAtLaunches) {
      const bool first = looked == start;
      looked = SteadyClock::now();
      const std::uint64_t now_finished = launches_.finished_count() + marks_.finished_count();
      if (!first && now_finished != finished) progress = looked;
      finished = now_finished;
      const double waited = seconds_since(progress);
      if (waited > deadline_seconds_) time_out(caller, waited);
    }
    pause(seconds_since(start), timed_);
  }
  // A failing peer aborts its communicators one by one. The rest of its stream's work may match
  // this rank's operation before the last one is gone. The operation is then done, but wrong.
  check_running(caller);
  check_communicators(caller, busy);
}

void NcclRank::wait_for_stream(const Caller& caller, cudaStream_t stream) {
  wait_until(caller,
             [&] { return is_done(cudaStreamQuery(stream), "cudaStreamQuery", doing_of(caller)); });
}

void NcclRank::synchronize(const Caller& caller) {
  const std::uint64_t record = record_.begin_local(caller);
  wait_for_all(caller);
  record_.done(record);
}

/// Blocks until all operations that this rank started are done.
void NcclRank::wait_for_all(const Caller& caller) {
  flush(caller);
  wait_for_stream(caller, device_.stream());
  for (const NcclMember& member : members_) {
    for (const cudaStream_t stream : {member.message_stream, member.collective_stream}) {
      if (stream != nullptr) wait_for_stream(caller, stream);
    }
  }
}

// ---- Communicators -----------------------------------------------------------------------------

NcclMember& NcclRank::add_member(const Caller& caller, std::vector<int> world_ranks, int index,
                                 std::uint64_t group) {
  NcclMember& member = members_.emplace_back();
  member.world_ranks = std::move(world_ranks);
  member.index = index;
  member.group = group;
  if (member.size() == 0) return member;
  record_.add_group(member, caller.place);
  const Doing doing = doing_of(caller);
  const std::int64_t bytes = scratch_elements(member.size()) * size_of(DType::kInt32);
  member.scratch = static_cast<std::int32_t*>(device_.allocate(bytes));
  check(cudaMemsetAsync(member.scratch, 0, static_cast<std::size_t>(bytes), device_.stream()),
        "cudaMemsetAsync", doing);
  return member;
}

cudaStream_t NcclRank::created(const Caller& caller, cudaStream_t& stream) {
  if (stream == nullptr) stream = device_.take_stream(doing_of(caller));
  return stream;
}

void NcclRank::split_communicator(const Caller& caller, ncclComm_t& parent, int color, int key,
                                  ncclComm_t& made, ncclConfig_t* config) {
  const Doing doing = doing_of(caller);
  // Of a parent that does not block, NCCL returns ncclSuccess while `made` is null (2.28): only the
  // parent's state tells when it exists.
  issue(caller, doing, "ncclCommSplit", parent, [&] {
    const ncclResult_t result = ncclCommSplit(parent, color, key, &made, config);
    return result == ncclSuccess ? ncclInProgress : result;
  });
  if (color >= 0) issue(caller, doing, "ncclCommSplit", made, [] { return ncclInProgress; });
}

template <class Fn>
void NcclRank::for_each_communicator(Fn fn) {
  const auto call = [&fn](ncclComm_t& comm) {
    if (load(comm) != nullptr) fn(comm);
  };
  for (std::size_t i = members_.size(); i-- > 0;) {
    call(members_[i].messages);
    call(members_[i].collectives);
  }
  call(root_);
}

void NcclRank::abort() noexcept {
  if (in_group_) {  // the end of the group would launch calls of communicators that are gone
    aborts_after_group_ = true;
    return;
  }
  // After the aborts, all work on the GPU counts as finished.
  record_.close(launches_);
  bool is_open = false;
  for_each_communicator([&is_open](ncclComm_t&) { is_open = true; });
  if (is_open) abort_communicators();
  for (NcclMember& member : members_) {
    member.deferred.clear();
    member.to_self.clear();
    member.from_self.clear();
  }
}

void NcclRank::abort_communicators() {
  const Watchdog watchdog = watch("ncclCommAbort");
  // In one group: ncclCommAbort waits for the communicator's work, which may be queued behind that
  // of another one. A group stops all of them before it waits for any (NCCL 2.22 or newer).
  // Repeat: the communicator of an unfinished split appears only once its parent is aborted.
  for (bool found = true; found;) {
    found = false;
    static_cast<void>(ncclGroupStart());
    for_each_communicator([&found](ncclComm_t& comm) {
      static_cast<void>(ncclCommAbort(load(comm)));
      std::atomic_ref<ncclComm_t>(comm).store(nullptr);
      found = true;
    });
    static_cast<void>(ncclGroupEnd());
  }
}

Watchdog NcclRank::watch(const char* call) {
  return Watchdog(
      std::max(world_.settings().start_seconds, world_.settings().deadline_seconds),
      fmt::format("rank {}, at its end: {}", rank(), call), [this] {
        const std::exception_ptr cause = world_.cause();
        return (cause == nullptr ? "" : "its run failed: " + what_of(cause) + "\n") +
               "its last operations:\n" + in_words(record_.log()) +
               "hint: nvidia-smi says whether the GPU answers, and NCCL_DEBUG=INFO what NCCL does";
      });
}

void NcclRank::destroy(const Caller& caller, ncclComm_t& comm) {
  ncclResult_t state = ncclCommFinalize(comm);
  const SteadyClock::time_point start = SteadyClock::now();
  while (state == ncclInProgress && !world_.is_stopped() &&
         seconds_since(start) < deadline_seconds_) {
    state = state_of(comm);
    pause(seconds_since(start));
  }
  // All work is done: ranks that end their functions much later are no failure.
  const Watchdog watchdog = watch(state == ncclInProgress ? "ncclCommAbort" : "ncclCommDestroy");
  if (state == ncclInProgress) {
    static_cast<void>(ncclCommAbort(std::exchange(comm, nullptr)));
    return;
  }
  if (state == ncclSuccess) state = ncclCommDestroy(std::exchange(comm, nullptr));
  if (state != ncclSuccess) {
    stop_and_throw(nccl_error(state, "ncclCommDestroy", doing_of(caller), nullptr));
  }
}

}  // namespace rankbox::gpu
