// How waits end that do not end well, and how a rank leaves its run.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "comm/errors.h"
#include "mpi/collective.h"
#include "mpi/pending.h"
#include "mpi/run.h"

namespace rankbox::mpi {
namespace {

// How long to wait for what is known to be on its way.
constexpr double kGraceSeconds = 1;

std::string what_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& caught) {
    return caught.what();
  } catch (...) {
    return "an unknown exception";
  }
}

std::string mismatch_in_words(const std::string& send, const std::string& recv) {
  return fmt::format(
      "message mismatch: {}, but {}; nothing was copied (both sides must agree on element count "
      "and dtype)",
      send, recv);
}

}  // namespace

// ---- Leaving ----------------------------------------------------------------------------------

/// From here on nobody can send to this rank; what is being received is received.
void Run::take_back_messages(const Activity* activity) {
  if (activity != nullptr) {
    if (activity->message != nullptr) take_back(*activity->message);
    if (activity->other_half != nullptr) take_back(*activity->other_half);
  }
  for (PendingOperation* pending : open_requests_) take_back(pending->message);
}

void Run::take_back(Message& message) {
  if (message.sends) return;
  if (!cancel_recv(message, departure_.patience_seconds()))
    departure_.end_all_processes("a message that was begun was not finished");
}

/// @param mismatched what of this rank was found not to fit, or null
void Run::say_farewell(const Activity* activity, const Message* mismatched) {
  take_back_messages(activity);
  Farewell mine;
  mine.mismatched = mismatched != nullptr;
  if (activity != nullptr) {
    const Message* told = mismatched != nullptr ? mismatched : activity->message;
    // Of the halves of a sendrecv the one that is not done.
    if (mismatched == nullptr && told != nullptr && told->done && activity->other_half != nullptr)
      told = activity->other_half;
    if (told == nullptr) {
      mine.set_wait({rank_,
                     activity->caller.operation,
                     {},
                     activity->bytes,
                     activity->caller.place.file_name(),
                     static_cast<int>(activity->caller.place.line())},
                    "");
    } else {
      mine.set_wait(told->wait(), told->in_words());
      mine.group = told->group->id;
      mine.number = told->number;
      mine.sends = told->sends;
    }
  }
  departure_.say_farewell(mine);
}

/// Throws it, and remembers it: the run has failed, even if nobody lets the error out.
template <class E>
void Run::fail(E error) {
  failure_ = std::make_exception_ptr(error);
  throw error;
}

const Farewell* Run::other_end(const Message& message) const {
  const Farewell& there = departure_.farewell_of(message.world_peer());
  const bool is_it = there.group == message.group->id && there.number == message.number &&
                     there.peer == rank_ && there.sends != message.sends;
  return is_it ? &there : nullptr;
}

// ---- Waits that do not end well ---------------------------------------------------------------

void Run::end_mismatched(const Activity& activity, const Message& message,
                         const std::string& other) {
  const std::string sender =
      fmt::format("rank {} sends {} to rank {}", message.world_peer(), other, rank_);
  departure_.tell_failure(mismatch_in_words(sender, message.in_words()));
  say_farewell(&activity, &message);
  const Farewell* const send = other_end(message);
  fail(MessageMismatch(mismatch_in_words(send == nullptr ? sender : std::string(send->words.data()),
                                         message.in_words()),
                       message.caller.context(message.world_peer())));
}

void Run::end_disagreed(const Activity& activity, const Collective& collective) {
  departure_.tell_failure(collective.mismatch(), /*disagreed=*/true);
  say_farewell(&activity);
  fail(CollectiveMismatch(collective.mismatch(), collective.caller().context()));
}

void Run::end_stopped(const Activity& activity) {
  // What the others said of their calls is on its way.
  const Clock::time_point begin = Clock::now();
  while (activity.collective != nullptr && departure_.cause_is_disagreement() &&
         activity.collective->mismatch().empty() && seconds_since(begin) < kGraceSeconds) {
    advance_all(activity.collective->group());
  }
  say_farewell(&activity);
  // All ranks of the collective find out that they disagree, some of them from this one.
  if (activity.collective != nullptr && !activity.collective->mismatch().empty()) {
    throw CollectiveMismatch(activity.collective->mismatch(), activity.caller.context());
  }
  // What this rank was sending may be what somebody could not receive.
  std::vector<const Message*> sends = {activity.message, activity.other_half};
  for (const PendingOperation* pending : open_requests_) sends.push_back(&pending->message);
  for (const Message* message : sends) {
    if (message == nullptr || message->group == nullptr || !message->sends) continue;
    const Farewell* const receiver = other_end(*message);
    if (receiver == nullptr || !receiver->mismatched) continue;
    throw MessageMismatch(mismatch_in_words(message->in_words(), receiver->words.data()),
                          message->caller.context(message->world_peer()));
  }
  throw Aborted(fmt::format("rank {} was stopped in {} at {}:{}, because {}", rank_,
                            activity.caller.operation, activity.caller.place.file_name(),
                            activity.caller.place.line(), departure_.cause()),
                activity.caller.context());
}

std::string Run::lateness(const Activity& activity, double seconds) const {
  const int peer = activity.message == nullptr ? -1 : activity.message->world_peer();
  return fmt::format("rank {} waited {:.3g} s in {}{} ({} bytes) at {}:{}", rank_, seconds,
                     activity.caller.operation, peer < 0 ? "" : fmt::format(" for rank {}", peer),
                     activity.bytes, activity.caller.place.file_name(),
                     activity.caller.place.line());
}

void Run::end_late(const Activity& activity, double seconds) {
  const std::string mine = lateness(activity, seconds);
  departure_.tell_failure(mine);
  say_farewell(&activity);
  fail(TimedOut(
      fmt::format("{}; when it gave up:{}\n  hint: if this is a deadlock, the sandbox "
                  "(--config=sim) proves it and tells why; if not, raise "
                  "RunOptions::deadline_seconds",
                  mine, in_words(departure_.farewells())),
      activity.caller.context(activity.message == nullptr ? -1 : activity.message->world_peer())));
}

void Run::end_alone(const Message& message) {
  Wait wait = message.wait();
  DeadlockError error(
      fmt::format("deadlock: rank {} blocks in {} on a message {} itself ({} bytes) at {}:{}; "
                  "nobody else can complete it: use sendrecv, or isend and irecv",
                  wait.rank, wait.op, message.sends ? "to" : "from", wait.bytes, wait.file,
                  wait.line),
      message.caller.context(wait.rank), {wait}, {wait.rank});
  departure_.tell_failure(error.what());
  say_farewell(nullptr);
  fail(std::move(error));
}

// ---- Requests that nobody waits for -----------------------------------------------------------

void Run::dropped(PendingOperation& pending) {
  if (pending.collective != nullptr) pending.collective->abandon();
  if (departure_.is_over()) return;
  const Caller& caller = pending.caller();
  const std::exception_ptr error = std::make_exception_ptr(UnreceivedMessage(
      fmt::format("request never waited for: rank {} called {} at {}:{}; keep the Request and "
                  "wait() for it",
                  rank_, caller.operation, caller.place.file_name(), caller.place.line()),
      caller.context(pending.peer())));
  if (given_up_ == nullptr) given_up_ = error;
  if (std::uncaught_exceptions() == 0) return give_up_now();
  // Being unwound is no fault of its own. What can be taken back is; a message that may be read at
  // any time cannot, and then everybody has to stop before its memory goes.
  Message& message = pending.message;
  if (!message.sends) return take_back(message);
  if (test(message)) return;
  departure_.tell_failure(fmt::format("rank {} failed", rank_));
  say_farewell(nullptr);
}

void Run::give_up_now() {
  departure_.tell_failure(what_of(given_up_));
  if (departure_.failed_first()) failure_ = given_up_;
  say_farewell(nullptr);
}

// ---- The end of the rank's function -----------------------------------------------------------

std::exception_ptr Run::leave(const std::exception_ptr& error) {
  if (error != nullptr) departure_.tell_failure(what_of(error));
  // What the function started and left lying in places that live on.
  if (error == nullptr && !open_requests_.empty()) dropped(*open_requests_.back());
  if (!departure_.is_over()) {
    if (error == nullptr && given_up_ != nullptr) {
      give_up_now();
    } else {
      say_farewell(nullptr);
    }
  }
  while (!open_requests_.empty()) open_requests_.back()->finish();
  departure_.settle();

  if (failure_ != nullptr) return failure_;
  if (error != nullptr) return error;
  if (given_up_ != nullptr) return given_up_;
  return has_failed() || rank_ < 0 ? nullptr : left_behind();
}

std::exception_ptr Run::left_behind() {
  // All receives have ended; a send that was received is done as soon as its answer is here.
  const Clock::time_point begin = Clock::now();
  while (!buffered_sends_.empty() && seconds_since(begin) < kGraceSeconds) {
    while (!buffered_sends_.empty() && test(buffered_sends_.front().message))
      buffered_sends_.pop_front();
  }
  if (buffered_sends_.empty()) return nullptr;
  const Message& first = buffered_sends_.front().message;
  return std::make_exception_ptr(UnreceivedMessage(
      fmt::format("unreceived message: {}{}; every send needs its receive", first.in_words(),
                  buffered_sends_.size() > 1
                      ? fmt::format(" (and {} more)", buffered_sends_.size() - 1)
                      : ""),
      first.caller.context(first.world_peer())));
}

}  // namespace rankbox::mpi
