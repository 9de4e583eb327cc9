#include "gpu/nccl/rank.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace rankbox::gpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLookAtEvents = 5e-3;  // seconds between two looks for progress

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Short waits are looked for without a pause, long ones leave the core to others.
void pause(double waited) {
  if (waited < 100e-6) return;
  if (waited < 2e-3) return std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::microseconds(waited < 20e-3 ? 20 : 200));
}

/// NCCL's own thread may be writing there, until the call is carried out.
ncclComm_t load(ncclComm_t& comm) {
  return std::atomic_ref<ncclComm_t>(comm).load(std::memory_order_acquire);
}

/// The lines of a text, set in by two.
std::string indented(const std::string& lines) {
  std::string text;
  std::size_t begin = 0;
  while (begin < lines.size()) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    text += "\n  " + lines.substr(begin, end - begin);
    begin = end + 1;
  }
  return text;
}

}  // namespace

NcclRank::NcclRank(NcclWorld& world, RankDevice& device, std::uint64_t owner, Place place)
    : world_(world), device_(device), owner_(owner), recorder_(device.rank()) {
  const Caller caller{rank(), owner, rank(), world.settings().world_size, "start", place};
  world_.add(recorder_);
  try {
    start(caller);
  } catch (...) {
    world_.stop(std::current_exception());
    abort();
    release_device();
    throw;
  }
  device_.set_waiter([this](cudaStream_t stream, const Doing& doing) {
    const Caller waiter{rank(),
                        owner_,
                        rank(),
                        world_.settings().world_size,
                        *doing.op == '\0' ? "synchronize" : doing.op,
                        doing.place};
    wait_for_stream(waiter, stream);
  });
}

NcclRank::~NcclRank() {
  device_.set_waiter(nullptr);
  abort();
  while (!open_.empty()) open_.back()->close();
  release_device();
}

void NcclRank::release_device() {
  world_.remove(recorder_);
  // What still runs on it was aborted; CUDA keeps the stream until it is done.
  for (const NcclMember& member : members_) {
    if (member.message_stream != nullptr)
      static_cast<void>(cudaStreamDestroy(member.message_stream));
    device_.release(member.scratch);
  }
  if (ready_ != nullptr) static_cast<void>(cudaEventDestroy(ready_));
  static_cast<void>(cudaGetLastError());
}

void NcclRank::finish(Place place) {
  const Caller caller{rank(), owner_, rank(), world_.settings().world_size, "return", place};
  check_running(caller);
  while (!open_.empty()) {
    note_dropped(*open_.back());
    open_.back()->close();
  }
  check_running(caller);
  world_.leave(rank());
  wait_for_all(caller);
  for_each_communicator([&](ncclComm_t& comm) { give_up(caller, comm); });
}

void NcclRank::fail(std::exception_ptr failure) noexcept {
  world_.stop(std::move(failure));
  abort();
}

// ---- Calls ---------------------------------------------------------------------------------

void NcclRank::check_running(const Caller& caller) {
  if (world_.is_stopped()) [[unlikely]] {
    abort();
    world_.throw_stopped(caller);
  }
  if (dropped_ != nullptr) [[unlikely]]
    stop_and_throw(UnreceivedMessage(dropped_->what(), dropped_->context()));
}

void NcclRank::post(const Caller& caller, NcclMember& member, int src, int dst,
                    const PostedMessage& message) {
  if (const auto conflict = member.group->post(src, dst, message)) {
    world_.stop(*conflict, caller);
  } else {
    world_.check_returned(*member.group);
  }
  check_running(caller);
}

void NcclRank::post(const Caller& caller, NcclMember& member, const CollectiveCall& call) {
  if (!world_.settings().check_collectives) return;
  if (const auto conflict = member.group->post(caller, call)) {
    world_.stop(*conflict, caller);
  } else {
    world_.check_returned(*member.group);
  }
  check_running(caller);
}

void NcclRank::note_wait(const Caller& caller, const NcclPending& pending) {
  if (!pending.message().has_value()) return;
  const auto& [sends, peer, number] = *pending.message();
  const NcclMember& member = pending.member();
  member.group->note_wait(sends ? member.index : peer, sends ? peer : member.index, sends, number);
  world_.check_returned(*member.group);
  check_running(caller);
}

void NcclRank::issue(const Caller& caller, const Doing& doing, const char* name, ncclComm_t& comm,
                     const std::function<ncclResult_t()>& calls) {
  ncclResult_t state = calls();
  if (state == ncclInProgress) {
    const auto carried_out = [&] {
      const ncclResult_t asked = ncclCommGetAsyncError(load(comm), &state);
      if (asked != ncclSuccess) state = asked;
      return state != ncclInProgress;
    };
    wait_until(caller, carried_out, &comm);
  }
  if (state != ncclSuccess) stop_and_throw(nccl_error(state, name, doing, load(comm)));
}

// ---- Waiting -------------------------------------------------------------------------------

void NcclRank::look_around(const Caller& caller, const ncclComm_t* busy) {
  check_running(caller);
  for_each_communicator([&](ncclComm_t& comm) {
    if (&comm == busy) return;
    ncclResult_t state = ncclSuccess;
    const ncclResult_t asked = ncclCommGetAsyncError(load(comm), &state);
    if (asked != ncclSuccess) state = asked;
    if (went_well(state)) return;
    stop_and_throw(nccl_error(state, "an earlier operation", doing_of(caller), load(comm)));
  });
}

void NcclRank::time_out(const Caller& caller, double seconds) {
  const std::string missing = world_.missing_in_words();
  const std::string flights = missing.empty() ? world_.flights() : "";  // else there are none
  stop_and_throw(TimedOut(
      fmt::format(
          "rank {}, {}: nothing got done on its GPU for {:.3g} s{}{}{}\n  hint: {}", caller.rank,
          call_in_words(caller), seconds, missing.empty() ? "" : "; " + missing,
          flights.empty() ? "" : "; the last operations of this process's ranks:",
          indented(flights),
          missing.empty()
              ? "run the program with --config=sim, where a deadlock is explained; a longer "
                "deadline_seconds in RunOptions leaves slow ranks more time"
              : "every rank has to start; look at what became of it"),
      caller.context()));
}

void NcclRank::wait_until(const Caller& caller, const std::function<bool()>& done,
                          const ncclComm_t* busy) {
  const Clock::time_point start = Clock::now();
  Clock::time_point progress = start;
  Clock::time_point looked = start;
  std::uint64_t finished = 0;
  bool counted = false;
  while (!done()) {
    look_around(caller, busy);
    if (seconds_since(looked) > kLookAtEvents) {
      looked = Clock::now();
      const std::uint64_t now_finished = recorder_.finished_count();
      if (counted && now_finished != finished) progress = looked;
      finished = now_finished;
      counted = true;
      const double waited = seconds_since(progress);
      if (waited > world_.settings().deadline_seconds) time_out(caller, waited);
    }
    pause(seconds_since(start));
  }
}

template <class Query>
void NcclRank::wait_for_device(const Caller& caller, const char* name, Query query) {
  const Clock::time_point start = Clock::now();
  wait_until(caller, [&] {
    const cudaError_t status = query();
    if (status != cudaErrorNotReady) {
      check(status, name, doing_of(caller));
      return true;
    }
    static_cast<void>(cudaGetLastError());  // "not ready" counts as an error there
    launch_wanted(caller, seconds_since(start));
    return false;
  });
  // A peer that gives up aborts its communicators one after the other, and what its stream had still to
  // do may meet this rank's operation before the last one goes: done, and yet wrong.
  look_around(caller);
}

void NcclRank::wait_for_stream(const Caller& caller, cudaStream_t stream) {
  wait_for_device(caller, "cudaStreamQuery", [stream] { return cudaStreamQuery(stream); });
}

void NcclRank::wait_for_event(const Caller& caller, cudaEvent_t event) {
  wait_for_device(caller, "cudaEventQuery", [event] { return cudaEventQuery(event); });
}

void NcclRank::wait_for_all(const Caller& caller) {
  launch_deferred(caller);
  for (const cudaStream_t stream : {device_.stream(), device_.side_stream()})
    wait_for_stream(caller, stream);
  for (const NcclMember& member : members_) {
    if (member.message_stream != nullptr) wait_for_stream(caller, member.message_stream);
  }
}

// ---- Requests nobody waited for --------------------------------------------------------------

NcclPending::NcclPending(NcclRank& rank, NcclMember& member, const Caller& caller, int peer)
    : rank_(&rank), member_(&member), caller_(caller), peer_(peer) {
  rank.open_.push_back(this);
}

NcclPending::~NcclPending() {
  if (closed()) return;
  rank_->note_dropped(*this);
  close();
}

void NcclPending::mark(cudaStream_t stream) {
  deferred_ = false;
  event_ = rank_->device().take_event();
  check(cudaEventRecord(event_, stream), "cudaEventRecord", doing_of(caller_, peer_));
}

void NcclPending::close() {
  if (event_ != nullptr) rank_->device().give_back(std::exchange(event_, nullptr));
  // Usually the latest.
  std::vector<NcclPending*>& open = rank_->open_;
  const auto at = std::find(open.rbegin(), open.rend(), this);
  *at = open.back();
  open.pop_back();
  rank_ = nullptr;
}

void NcclRank::note_dropped(const NcclPending& pending) {
  // In a stopped world ranks are being unwound: no fault of theirs.
  if (dropped_ != nullptr || world_.is_stopped()) return;
  const Caller& caller = pending.caller();
  dropped_ = std::make_unique<Error>(
      fmt::format(
          "request never waited for: rank {} called {} at {}:{}; keep the Request and wait() "
          "for it",
          caller.rank, caller.operation, caller.place.file_name(), caller.place.line()),
      caller.context(pending.peer()));
}

// ---- Communicators -----------------------------------------------------------------------------

NcclMember& NcclRank::add_member(const Caller& caller, NcclGroup* group, int index) {
  NcclMember& member = members_.emplace_back();
  member.group = group;
  member.index = index;
  if (group == nullptr) return member;
  const Doing doing = doing_of(caller);
  check(cudaStreamCreateWithFlags(&member.message_stream, cudaStreamNonBlocking),
        "cudaStreamCreateWithFlags", doing);
  const std::int64_t bytes = scratch_elements(group->size()) * size_of(DType::kInt32);
  member.scratch = static_cast<std::int32_t*>(device_.allocate(bytes));
  check(cudaMemsetAsync(member.scratch, 0, static_cast<std::size_t>(bytes), device_.stream()),
        "cudaMemsetAsync", doing);
  return member;
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
  // Again and again: a split that was under way leaves its communicator only when its parent is
  // aborted.
  for (bool found = true; found;) {
    found = false;
    for_each_communicator([&found](ncclComm_t& comm) {
      static_cast<void>(ncclCommAbort(load(comm)));
      std::atomic_ref<ncclComm_t>(comm).store(nullptr);
      found = true;
    });
  }
  for (NcclMember& member : members_) {
    member.deferred.clear();
    member.to_self.clear();
    member.from_self.clear();
  }
}

void NcclRank::give_up(const Caller& caller, ncclComm_t& comm) {
  ncclResult_t state = ncclCommFinalize(comm);
  const Clock::time_point start = Clock::now();
  while (state == ncclInProgress && !world_.is_stopped() &&
         seconds_since(start) < world_.settings().deadline_seconds) {
    const ncclResult_t asked = ncclCommGetAsyncError(comm, &state);
    if (asked != ncclSuccess) state = asked;
    pause(seconds_since(start));
  }
  // Everything is done: nobody should fail because others take long to come to their end.
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
