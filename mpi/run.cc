#include "mpi/run.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

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
// Such rounds between two looks at what else may have come: it takes a look at each open request.
constexpr int kRoundsPerSurvey = 64;
// Calls between two looks at the lobby where no call waits.
constexpr std::int64_t kCallsPerLook = 64;
// Others get at least so long to stop.
constexpr double kLeastPatienceSeconds = 5;

}  // namespace

Run::Run(const RunOptions& options, std::unique_ptr<Group> world)
    : options_(options),
      tags_(environment().tag_bits),
      rank_(world->index),
      departure_(environment(), std::max(options.deadline_seconds, kLeastPatienceSeconds)) {
  static std::uint64_t serial = 0;
  memory_.owner = ++serial << 32 | static_cast<std::uint64_t>(rank_ + 1);
  groups_.push_back(std::move(world));
  if (!options_.check_collectives) watchdog_.emplace(options_.deadline_seconds);
}

Run::~Run() {
  if (keeps_handles_ || !departure_.is_over() || departure_.has_failed()) {
    // MPI cannot call a collective off, nor a message: what they are and what they write to stays.
    for (std::unique_ptr<Group>& group : groups_) static_cast<void>(group.release());
    for (BufferedSend& send : buffered_sends_) static_cast<void>(send.data.release());
    return;
  }
  // In the order of making, which is the same on all members of a group.
  for (const std::unique_ptr<Group>& group : groups_) {
    if (group == nullptr || group->index < 0) continue;  // taken; not a member
    MPI_Comm_free(&group->messages);
    MPI_Comm_free(&group->agreements);
  }
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

void Run::begin_call(const Caller& caller) {
  check_member(caller);
  if (departure_.is_over() || given_up_ != nullptr) [[unlikely]] {
    if (!departure_.is_over()) give_up_now();
    throw Aborted(fmt::format("rank {}, {} at {}:{}: the run has been stopped, because {}", rank_,
                              caller.operation, caller.place.file_name(), caller.place.line(),
                              departure_.cause()),
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
  if (++calls_ % kCallsPerLook == 0) [[unlikely]]
    check_running(caller);
  while (!buffered_sends_.empty() && test(buffered_sends_.front().message))
    buffered_sends_.pop_front();
}

void Run::send_buffered(const Message& message) {
  BufferedSend& send = buffered_sends_.emplace_back();
  const auto bytes = static_cast<std::size_t>(message.slice.bytes());
  send.data = std::make_unique_for_overwrite<char[]>(bytes);
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
  if (looks == kLooks) wait_long(activity, done);
  look_for_mismatch(activity, message);
  if (other_half != nullptr) look_for_mismatch(activity, *other_half);
}

void Run::wait_for(Collective& collective) {
  const Activity activity{collective.caller(), nullptr, nullptr, &collective,
                          collective.call().in.bytes()};
  const auto done = [&] {
    advance_all(collective.group());
    return collective.is_done();
  };
  int looks = 0;
  while (looks < kLooks && !done()) ++looks;
  if (looks == kLooks) wait_long(activity, done);
}

void Run::wait_for_split(Collective& agreement) {
  Group& group = agreement.group();
  const Activity activity{agreement.caller(), nullptr, nullptr, &agreement, 0};
  const Clock::time_point begin = Clock::now();
  while (true) {
    for (int look = 0; look < kLooksPerRound; ++look) {
      advance_all(group);
      if (agreement.is_done()) return;
    }
    // All members see the same disagreement, and none of them makes a communicator.
    for (const auto& collective : group.collectives) {
      if (!collective->mismatch().empty()) end_disagreed(activity, *collective);
    }
    for (const auto& other : groups_) advance_all(*other);
    const double waited = seconds_since(begin);
    if (departure_.hears_of_failure() && departure_.has_left(group.members)) {
      if (departure_.failed_first()) end_late(activity, waited);
      end_stopped(activity);
    }
    if (waited > options_.deadline_seconds) {
      departure_.tell_failure(lateness(activity, waited));  // and see who answers
      if (waited > options_.deadline_seconds + departure_.patience_seconds())
        departure_.end_all_processes("the other ranks did not stop");
    }
    std::this_thread::yield();
  }
}

void Run::check_running(const Caller& caller) {
  if (!departure_.hears_of_failure()) return;
  const Activity activity{caller, nullptr, nullptr, nullptr, 0};
  // Of its own accord it has failed only in a split that took too long.
  if (departure_.failed_first()) end_late(activity, options_.deadline_seconds);
  end_stopped(activity);
}

void Run::wait_long(const Activity& activity, const std::function<bool()>& done) {
  const Clock::time_point begin = Clock::now();
  for (int round = 1;; ++round) {
    for (int look = 0; look < kLooksPerRound; ++look) {
      if (done()) return;
    }
    advance_collectives(activity);
    if (departure_.hears_of_failure()) end_stopped(activity);
    if (activity.message != nullptr) look_for_mismatch(activity, *activity.message);
    if (activity.other_half != nullptr) look_for_mismatch(activity, *activity.other_half);
    if (round % kRoundsPerSurvey == 0) {
      for (const PendingOperation* open : open_requests_) {
        if (!open->message.done) look_for_mismatch(activity, open->message);
      }
    }
    const double waited = seconds_since(begin);
    if (waited > options_.deadline_seconds) end_late(activity, waited);
    // There may be fewer cores than ranks.
    std::this_thread::yield();
  }
}

void Run::advance_collectives(const Activity& activity) {
  for (const std::unique_ptr<Group>& group : groups_) {
    advance_all(*group);
    for (const auto& collective : group->collectives) {
      if (!collective->mismatch().empty()) end_disagreed(activity, *collective);
    }
  }
}

void Run::look_for_mismatch(const Activity& activity, const Message& message) {
  std::string other;
  if (finds_mismatch(message, tags_, other)) [[unlikely]]
    end_mismatched(activity, message, other);
}

}  // namespace rankbox::mpi
