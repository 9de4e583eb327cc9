#include "mpi/run.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "comm/errors.h"
#include "mpi/check.h"
#include "mpi/environment.h"
#include "mpi/report.h"

namespace rankbox::mpi {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Tests of an operation before any other check: some 50 µs. A rank that yields to other programs
// while its message is in flight loses milliseconds.
constexpr int kFirstTests = 1000;
// Tests of it between two checks of the clock and the control communicator.
constexpr int kTestsPerRound = 16;
// Calls between two such checks on a rank that never waits.
constexpr std::int64_t kCallsPerLook = 64;
// Time for the acknowledgement of a received message.
constexpr double kGraceSeconds = 0.5;

double seconds_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}

std::uint64_t hash_of(std::uint64_t before, const FlightCall& call) {
  const auto small = static_cast<std::uint64_t>(call.collective) |
                     static_cast<std::uint64_t>(call.reduce_op) << 8 |
                     static_cast<std::uint64_t>(call.dtype) << 16 |
                     static_cast<std::uint64_t>(call.root + 1) << 24;
  return mix(mix(before, small), static_cast<std::uint64_t>(call.count));
}

}  // namespace

Run::Run(const RunOptions& options, Group world)
    : options_(options), tags_(environment().tag_bits), rank_(world.index), recorder_(world.index) {
  static std::uint64_t serial = 0;
  memory_.owner = ++serial << 32 | static_cast<std::uint64_t>(rank_ + 1);
  recorder_.add_group(world.id, world.members);
  groups_.push_back(std::move(world));
  if (options_.blocking_calls)
    blocking_deadline_.emplace(recorder_, options_.deadline_seconds, options_.world_size);
}

Run::~Run() {
  // In order of creation, which is the same on all members. The world is kept for the next run.
  for (std::size_t i = 1; i < groups_.size(); ++i) MPI_Comm_free(&groups_[i].comm);
}

void Run::begin() {
  if (dropped_ != nullptr) [[unlikely]]
    fail(dropped_);
  if (++calls_ % kCallsPerLook == 0 && another_rank_failed()) [[unlikely]]
    fail(nullptr);
  if (!buffered_sends_.empty()) forget_ended_sends();
}

void Run::fail(const std::exception_ptr& error) {
  end_failed_run(error, recorder_.log(), options_.world_size);
}

// ---- Start --------------------------------------------------------------------------------------

void Run::note(Operation& operation, const Caller& caller, Group& group, const FlightCall& call) {
  operation.caller = caller;
  operation.group = &group;
  operation.call = call;
  operation.flight = note(caller, call);
}

std::uint64_t Run::note(const Caller& caller, const FlightCall& call) {
  if (timed_ && call.kind != FlightKind::kCollective) return FlightRecorder::kNotNoted;
  return recorder_.begin({caller.operation, caller.place, call});
}

void Run::start(Operation& message, const Caller& caller, Group& group, FlightKind kind,
                Slice slice, int peer, bool async) {
  std::vector<std::uint32_t>& numbers = kind == FlightKind::kSend ? group.sent : group.received;
  message.slice = slice;
  message.peer = peer;
  note(message, caller, group,
       {.kind = kind,
        .async = async,
        .dtype = slice.dtype(),
        .peer = group.world_rank(peer),
        .count = slice.size(),
        .group = group.id,
        .number = numbers[static_cast<std::size_t>(peer)]++});
  if (kind == FlightKind::kSend) {
    ++messages_;
    bytes_ += slice.bytes();
    if (options_.buffering.buffers(slice.bytes())) {
      send_buffered(message);
      message.done = true;
      return;
    }
  }
  start_message(message, tags_);
}

void Run::send_buffered(const Operation& message) {
  BufferedSend& send = buffered_sends_.emplace_back();
  const auto bytes = static_cast<std::size_t>(message.slice.bytes());
  send.data = std::make_unique_for_overwrite<char[]>(bytes);
  if (bytes > 0) std::memcpy(send.data.get(), message.slice.data(), bytes);
  send.operation = message;
  send.operation.slice =
      Slice(send.data.get(), message.slice.size(), message.slice.dtype(), true, memory_.owner);
  start_message(send.operation, tags_);
}

void Run::start(Operation& collective, const Caller& caller, Group& group,
                const CollectiveCall& call, bool async) {
  const bool has_data = moves_data(call.kind);
  note(collective, caller, group,
       {.kind = FlightKind::kCollective,
        .async = async,
        .collective = call.kind,
        .reduce_op = call.op,
        .dtype = call.dtype,
        .root = call.root < 0 ? -1 : group.world_rank(call.root),
        .count = has_data ? call.count : -1,
        .group = group.id,
        .number = group.collectives++});
  group.calls_hash = hash_of(group.calls_hash, collective.call);
  if (call.kind == CollectiveKind::kSplit) return;
  collective.native = native_call(group, call);
  collective.request =
      begin_native(group, collective.native, options_.blocking_calls && !async, caller);
}

// ---- Wait ---------------------------------------------------------------------------------------

void Run::wait(Operation& operation, Operation* other_half) {
  wait_until(operation.caller, operation, other_half);
  finish(operation);
  if (other_half != nullptr) finish(*other_half);
}

void Run::wait_for_request(const Caller& caller, Operation& operation) {
  FlightCall call = operation.call;
  call.async = false;
  call.waits = true;
  const std::uint64_t flight = note(caller, call);
  wait(operation);
  recorder_.set_done_alone(flight);
}

void Run::finish(Operation& operation) {
  if (operation.is_recv()) {
    fail_if_mismatched(operation);
    ++received_;
  }
  recorder_.set_done_alone(operation.flight);
}

void Run::wait_until(const Caller& caller, Operation& operation, Operation* other_half) {
  const auto is_done = [&] {
    return test(operation) && (other_half == nullptr || test(*other_half));
  };
  for (int i = 0; i < kFirstTests; ++i) {
    if (is_done()) return;
  }
  const SteadyClock::time_point begin = SteadyClock::now();
  while (true) {
    for (int i = 0; i < kTestsPerRound; ++i) {
      if (is_done()) return;
    }
    fail_if_mismatched(operation);
    if (other_half != nullptr) fail_if_mismatched(*other_half);
    if (another_rank_failed()) fail(nullptr);
    if (const double waited = seconds_since(begin); waited > options_.deadline_seconds) {
      const int peer =
          operation.done && other_half != nullptr ? other_half->call.peer : operation.call.peer;
      fail(TimedOut(fmt::format("rank {} waited {:.3g} s in {}{} at {}:{}", rank_, waited,
                                caller.operation, peer < 0 ? "" : fmt::format(" for rank {}", peer),
                                caller.place.file_name(), caller.place.line()),
                    caller.context(peer)));
    }
    // There may be fewer cores than ranks.
    std::this_thread::yield();
  }
}

void Run::fail_if_mismatched(const Operation& message) {
  const std::string other = mismatched_message(message, tags_);
  if (other.empty()) [[likely]]
    return;
  const Caller& caller = message.caller;
  const int peer = message.call.peer;
  fail(MessageMismatch(
      fmt::format("message mismatch: rank {} receives {} {} ({} bytes) from rank {} at {}:{}, but "
                  "{} came; both sides must agree on element count and dtype",
                  rank_, message.slice.size(), name_of(message.slice.dtype()),
                  message.slice.bytes(), peer, caller.place.file_name(), caller.place.line(),
                  other),
      caller.context(peer)));
}

// ---- Split --------------------------------------------------------------------------------------

Group* Run::split(const Caller& caller, Group& group, const CollectiveCall& call) {
  // MPI_Comm_split blocks, so all members synchronize first.
  Operation arrival;
  start(arrival, caller, group, call, /*async=*/false);
  struct Choice {
    int color;
    int key;
    int is_split;  // the other members' calls are splits too
  };
  const Choice mine = {std::max(call.color, -1), call.key, 1};
  std::vector<Choice> choices(group.members.size());
  check(MPI_Iallgather(&mine, 3, MPI_INT, choices.data(), 3, MPI_INT, group.comm, &arrival.request),
        "MPI_Iallgather", &caller);
  wait(arrival);
  if (!std::ranges::all_of(choices, [](const Choice& choice) { return choice.is_split == 1; })) {
    fail(CollectiveMismatch(fmt::format("collective mismatch: rank {} calls split() at {}:{}, and "
                                        "another rank calls something else",
                                        rank_, caller.place.file_name(), caller.place.line()),
                            caller.context()));
  }

  Group part;
  check(
      MPI_Comm_split(group.comm, mine.color < 0 ? MPI_UNDEFINED : mine.color, mine.key, &part.comm),
      "MPI_Comm_split", &caller);
  if (mine.color < 0) return nullptr;
  // MPI's order: by key, then by rank.
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i].color == mine.color) members.push_back(i);
  }
  std::ranges::stable_sort(members, {}, [&](std::size_t i) { return choices[i].key; });
  for (const std::size_t i : members) {
    if (static_cast<int>(i) == group.index) part.index = static_cast<int>(part.members.size());
    part.members.push_back(group.members[i]);
  }
  part.id = mix(mix(group.id + 1, arrival.call.number), static_cast<std::uint64_t>(mine.color));
  part.sent.resize(part.members.size());
  part.received.resize(part.members.size());
  recorder_.add_group(part.id, part.members, caller.place);
  groups_.push_back(std::move(part));
  return &groups_.back();
}

// ---- The end ------------------------------------------------------------------------------------

void Run::forget_ended_sends() {
  while (!buffered_sends_.empty() && test(buffered_sends_.front().operation))
    buffered_sends_.pop_front();
}

void Run::dropped(const PendingOperation& pending) {
  const Caller& caller = pending.operation.caller;
  const auto error = std::make_exception_ptr(UnreceivedMessage(
      fmt::format("request never waited for: rank {} called {} at {}:{}; keep the Request and "
                  "wait() for it",
                  rank_, caller.operation, caller.place.file_name(), caller.place.line()),
      caller.context(pending.operation.call.peer)));
  // An exception that leaves the rank's function is the cause; one caught inside is not.
  if (std::uncaught_exceptions() == 0) fail(error);
  if (dropped_ == nullptr) dropped_ = error;
}

void Run::end() {
  recorder_.set_returned();
  if (dropped_ != nullptr) fail(dropped_);
  // Requests stored where they outlive the function.
  if (!open_requests_.empty()) dropped(*open_requests_.front());
}

void Run::wait_for_others(MPI_Request& request) {
  const SteadyClock::time_point begin = SteadyClock::now();
  while (true) {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
    if (another_rank_failed()) fail(nullptr);
    // The cores are for ranks that still compute.
    std::this_thread::sleep_for(std::chrono::microseconds(seconds_since(begin) < 1e-3 ? 0 : 50));
  }
}

void Run::check_end(std::int64_t messages_unreceived, std::uint64_t calls_balance) {
  const SteadyClock::time_point begin = SteadyClock::now();
  while (!buffered_sends_.empty() &&
         (messages_unreceived == 0 || seconds_since(begin) < kGraceSeconds))
    forget_ended_sends();
  if (rank_ < 0) return;
  if (!buffered_sends_.empty()) {
    const Operation& first = buffered_sends_.front().operation;
    const Caller& caller = first.caller;
    fail(UnreceivedMessage(
        fmt::format("unreceived message: rank {} sends {} {} ({} bytes) to rank {} at {}:{}{}; "
                    "every send needs its receive",
                    rank_, first.call.count, name_of(first.call.dtype), first.slice.bytes(),
                    first.call.peer, caller.place.file_name(), caller.place.line(),
                    buffered_sends_.size() > 1
                        ? fmt::format(" (and {} more)", buffered_sends_.size() - 1)
                        : ""),
        caller.context(first.call.peer)));
  }
  if (messages_unreceived != 0) fail(nullptr);
  if (calls_balance != 0) {
    fail(CollectiveMismatch(
        fmt::format(
            "collective mismatch: the ranks of a communicator called different collectives, "
            "more than {} operations before the end",
            FlightRecorder::kSize),
        {rank_, "", -1, "", 0}));
  }
}

std::uint64_t Run::calls_balance() const {
  std::uint64_t balance = 0;
  for (const Group& group : groups_) {
    if (group.index < 0) continue;
    const std::uint64_t hash = mix(group.calls_hash, group.id);
    balance += group.index == 0 ? hash * static_cast<std::uint64_t>(group.size() - 1) : -hash;
  }
  return balance;
}

}  // namespace rankbox::mpi
