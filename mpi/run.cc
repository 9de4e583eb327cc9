#include "mpi/run.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "comm/errors.h"
#include "mpi/check.h"
#include "mpi/collective.h"
#include "mpi/pending.h"

namespace rankbox::mpi {
namespace {

// Looks at a message before anything else is thought of: some 10 µs.
constexpr int kLooks = 200;
// Looks at it between two looks at the clock and at the lobby.
constexpr int kLooksPerRound = 16;
// How long a call that must not be left halfway waits on, once the run was stopped.
constexpr double kGraceSeconds = 1;

}  // namespace

Run::Run(const RunOptions& options, std::unique_ptr<Group> world)
    : options_(options),
      environment_(environment()),
      tags_(environment_.tag_bits),
      rank_(world->index),
      heard_from_(static_cast<std::size_t>(environment_.size)) {
  static std::uint64_t serial = 0;
  memory_.owner = ++serial << 32 | static_cast<std::uint64_t>(rank_ + 1);
  groups_.push_back(std::move(world));
}

Run::~Run() {
  if (has_failed()) return;
  // In the order of making, which is the same on all members of a group.
  for (const std::unique_ptr<Group>& group : groups_) {
    if (group == nullptr) continue;  // taken
    MPI_Comm_free(&group->messages);
    MPI_Comm_free(&group->agreements);
  }
}

bool Run::has_failed() const {
  return farewells_.empty() ||
         std::any_of(farewells_.begin(), farewells_.end(),
                     [](const Farewell& each) { return each.state != Farewell::State::kReturned; });
}

bool Run::has_buffered(const Group& group, int peer) const {
  return std::any_of(buffered_sends_.begin(), buffered_sends_.end(), [&](const auto& send) {
    return send.message.group == &group && send.message.peer == peer;
  });
}

Group& Run::add_group(std::unique_ptr<Group> group) {
  groups_.push_back(std::move(group));
  return *groups_.back();
}

void Run::keep_for_good(std::shared_ptr<void> memory) {
  static std::vector<std::shared_ptr<void>>& kept = *new std::vector<std::shared_ptr<void>>;
  kept.push_back(std::move(memory));
}

void Run::begin_call(const Caller& caller) {
  check_member(caller);
  if (!farewells_.empty()) [[unlikely]] {
    throw Aborted(
        fmt::format("rank {}, {} at {}:{}: the run has been stopped, because {}", rank_,
                    caller.operation, caller.place.file_name(), caller.place.line(), cause_),
        caller.context());
  }
  for (const Fault& fault : options_.faults) {
    if (fault.rank != rank_ || fault.operation != calls_) continue;
    if (fault.kind == Fault::Kind::kDelay) {
      std::this_thread::sleep_for(std::chrono::duration<double>(fault.seconds));
    } else {
      throw Error(
          fmt::format("rank {} crashes as planned before its operation {} ({} at {}:{})", rank_,
                      calls_, caller.operation, caller.place.file_name(), caller.place.line()),
          caller.context());
    }
  }
  ++calls_;
  while (!buffered_sends_.empty() && test(buffered_sends_.front().message))
    buffered_sends_.pop_front();
}

void Run::send_buffered(const Message& message) {
  BufferedSend& send = buffered_sends_.emplace_back();
  const auto bytes = static_cast<std::size_t>(message.slice.bytes());
  send.data = std::make_unique<char[]>(bytes);
  if (bytes > 0) std::memcpy(send.data.get(), message.slice.data(), bytes);
  send.message = message;
  send.message.slice =
      Slice(send.data.get(), message.slice.size(), message.slice.dtype(), true, memory_.owner);
  start_send(send.message, tags_);
}

void Run::wait(Message& message, Message* other_half) {
  const auto done = [&] { return test(message) && (other_half == nullptr || test(*other_half)); };
  const Activity activity{message.caller, &message, other_half, nullptr, message.slice.bytes()};
  int looks = 0;
  while (looks < kLooks && !done()) ++looks;
  if (looks == kLooks) wait_long(activity, done, /*must_finish=*/false);
  std::string other;
  for (Message* half : {&message, other_half}) {
    if (half != nullptr && finds_mismatch(*half, tags_, other)) [[unlikely]]
      end_mismatched(activity, *half, other);
  }
}

void Run::wait_for(Collective& collective) {
  const CollectiveCall& call = collective.call();
  const bool splits = call.kind == CollectiveKind::kSplit;
  const Activity activity{collective.caller(), nullptr, nullptr, &collective, call.in.bytes()};
  const auto done = [&] {
    advance_all(collective.group());
    return collective.is_done();
  };
  int looks = 0;
  while (looks < kLooks && !done()) ++looks;
  if (looks == kLooks) wait_long(activity, done, /*must_finish=*/splits);
}

void Run::wait_long(const Activity& activity, const std::function<bool()>& done, bool must_finish) {
  const Clock::time_point begin = Clock::now();
  std::string other;
  while (true) {
    for (int look = 0; look < kLooksPerRound; ++look) {
      if (done()) return;
    }
    for (const std::unique_ptr<Group>& group : groups_) {
      advance_all(*group);
      for (const auto& collective : group->collectives) {
        if (!collective->mismatch().empty()) end_disagreed(activity, *collective);
      }
    }
    const double waited = seconds_since(begin);
    if (hear_of_failure() && !(must_finish && waited < kGraceSeconds)) end_stopped(activity);
    for (const Message* half : {activity.message, activity.other_half}) {
      if (half != nullptr && !half->done && finds_mismatch(*half, tags_, other))
        end_mismatched(activity, *half, other);
    }
    if (waited > options_.deadline_seconds) end_late(activity, waited);
    // There may be fewer cores than ranks.
    std::this_thread::yield();
  }
}

}  // namespace rankbox::mpi
