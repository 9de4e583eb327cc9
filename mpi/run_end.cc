// How a run ends: what a rank that fails tells the others, and how all of them leave.
#include <algorithm>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

#include "comm/errors.h"
#include "mpi/check.h"
#include "mpi/collective.h"
#include "mpi/pending.h"
#include "mpi/run.h"

namespace rankbox::mpi {
namespace {

constexpr int kNoticeTag = 1;
// Looks at the others before this process sleeps in between.
constexpr int kLooks = 200;
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

}  // namespace

bool Run::hear_of_failure() {
  int there = 0;
  MPI_Status status;
  check(MPI_Iprobe(MPI_ANY_SOURCE, kNoticeTag, environment_.lobby, &there, &status), "MPI_Iprobe");
  if (there != 0) {
    Notice notice;
    check(MPI_Recv(&notice, sizeof(Notice), MPI_BYTE, status.MPI_SOURCE, kNoticeTag,
                   environment_.lobby, MPI_STATUS_IGNORE),
          "MPI_Recv");
    heard_from_[static_cast<std::size_t>(status.MPI_SOURCE)] = true;
    if (state_ == Farewell::State::kReturned) {
      state_ = Farewell::State::kStopped;
      cause_ = notice.text.data();
      cause_is_mismatch_ = notice.disagreed;
    }
  }
  return state_ != Farewell::State::kReturned;
}

void Run::stop(const std::string& cause, bool disagreed) {
  if (state_ != Farewell::State::kReturned || !farewells_.empty()) return;
  state_ = Farewell::State::kFailed;
  cause_ = cause;
  notice_ = {};
  notice_.disagreed = disagreed;
  std::copy_n(cause.begin(), std::min(cause.size(), notice_.text.size() - 1), notice_.text.begin());
  for (int process = 0; process < environment_.size; ++process) {
    if (process == environment_.rank) continue;
    check(MPI_Isend(&notice_, sizeof(Notice), MPI_BYTE, process, kNoticeTag, environment_.lobby,
                    &notices_.emplace_back()),
          "MPI_Isend");
  }
}

void Run::take_back_messages(const Activity* activity) {
  const auto take_back = [](const Message* message) {
    // The message is the caller's own, who is not coming back to it.
    if (message != nullptr && !message->sends) cancel_recv(*const_cast<Message*>(message));
  };
  if (activity != nullptr) {
    take_back(activity->message);
    take_back(activity->other_half);
  }
  for (PendingOperation* pending : open_requests_) take_back(&pending->message);
}

void Run::say_farewell(const Activity* activity, bool mismatched) {
  // From here on nobody can send to this rank; what is being received is received.
  take_back_messages(activity);
  Farewell mine;
  mine.state = state_;
  mine.mismatched = mismatched;
  if (activity != nullptr) {
    const Message* message = activity->message;
    if (message != nullptr && message->done && activity->other_half != nullptr)
      message = activity->other_half;
    if (mismatched && message->sends) message = activity->other_half;
    if (message == nullptr) {
      mine.set_wait({rank_,
                     activity->caller.operation,
                     {},
                     activity->bytes,
                     activity->caller.place.file_name(),
                     static_cast<int>(activity->caller.place.line())},
                    "");
    } else {
      mine.set_wait(message->wait(), message->in_words());
      mine.group = message->group->id;
      mine.number = message->number;
      mine.sends = message->sends;
    }
  }

  std::vector<Farewell> all(static_cast<std::size_t>(environment_.size));
  all[static_cast<std::size_t>(environment_.rank)] = mine;
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), sizeof(Farewell), MPI_BYTE,
                       environment_.lobby, &request),
        "MPI_Iallgather");
  const Clock::time_point begin = Clock::now();
  for (int look = 0;; ++look) {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) break;
    if (look < kLooks) continue;
    // Ranks that have returned may wait for long, and leave the cores to those that work.
    const double waited = seconds_since(begin);
    std::this_thread::sleep_for(std::chrono::microseconds(waited < 1e-3 ? 0 : 50));
    if (state_ != Farewell::State::kReturned && waited > options_.deadline_seconds) {
      fmt::print(stderr,
                 "rankbox: {}\nrankbox: the other ranks did not stop within {} s; ending all "
                 "processes\n",
                 cause_, options_.deadline_seconds);
      MPI_Abort(environment_.lobby, 1);
    }
  }
  farewells_ = std::move(all);
}

const Farewell* Run::other_end(const Message& message) const {
  const Farewell& there = farewells_[static_cast<std::size_t>(message.world_peer())];
  const bool is_it = there.group == message.group->id && there.number == message.number &&
                     there.peer == rank_ && there.sends != message.sends;
  return is_it ? &there : nullptr;
}

namespace {

std::string mismatch_in_words(const std::string& send, const std::string& recv) {
  return fmt::format(
      "message mismatch: {}, but {}; nothing was copied (both sides must agree on element count "
      "and dtype)",
      send, recv);
}

}  // namespace

void Run::end_mismatched(const Activity& activity, const Message& message,
                         const std::string& other) {
  const std::string sender =
      fmt::format("rank {} sends {} to rank {}", message.world_peer(), other, rank_);
  stop(mismatch_in_words(sender, message.in_words()));
  say_farewell(&activity, /*mismatched=*/true);
  const Farewell* const send = other_end(message);
  throw MessageMismatch(
      mismatch_in_words(send == nullptr ? sender : std::string(send->words.data()),
                        message.in_words()),
      message.caller.context(message.world_peer()));
}

void Run::end_disagreed(const Activity& activity, const Collective& collective) {
  stop(collective.mismatch(), /*disagreed=*/true);
  say_farewell(&activity, /*mismatched=*/false);
  throw CollectiveMismatch(collective.mismatch(), collective.caller().context());
}

void Run::end_stopped(const Activity& activity) {
  // What the others said of their calls is on its way.
  const Clock::time_point begin = Clock::now();
  while (activity.collective != nullptr && cause_is_mismatch_ &&
         activity.collective->mismatch().empty() && seconds_since(begin) < kGraceSeconds) {
    advance_all(activity.collective->group());
  }
  say_farewell(&activity, /*mismatched=*/false);
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
                            activity.caller.place.line(), cause_),
                activity.caller.context());
}

void Run::end_late(const Activity& activity, double seconds) {
  const int peer = activity.message == nullptr ? -1 : activity.message->world_peer();
  const std::string mine =
      fmt::format("rank {} waited {:.3g} s in {}{} ({} bytes) at {}:{}", rank_, seconds,
                  activity.caller.operation, peer < 0 ? "" : fmt::format(" for rank {}", peer),
                  activity.bytes, activity.caller.place.file_name(), activity.caller.place.line());
  stop(mine);
  say_farewell(&activity, /*mismatched=*/false);
  throw TimedOut(fmt::format("{}; when it gave up:{}\n  hint: if this is a deadlock, the sandbox "
                             "(--config=sim) proves it and tells why; if not, raise "
                             "RunOptions::deadline_seconds",
                             mine, in_words(farewells_)),
                 activity.caller.context(peer));
}

void Run::dropped(PendingOperation& pending) {
  if (!farewells_.empty()) return;  // the run is over for this rank
  const Caller& caller = pending.caller();
  if (std::uncaught_exceptions() == 0) {
    const std::string told = fmt::format(
        "request never waited for: rank {} called {} at {}:{}; keep the Request and wait() for it",
        rank_, caller.operation, caller.place.file_name(), caller.place.line());
    dropped_request_ =
        std::make_exception_ptr(UnreceivedMessage(told, caller.context(pending.peer())));
    stop(told);
  } else {
    stop(fmt::format("rank {} failed", rank_));
  }
  say_farewell(nullptr, /*mismatched=*/false);
}

std::exception_ptr Run::leave(std::exception_ptr error) {
  if (error != nullptr) stop(what_of(error));
  // What the function started and left lying in places that live on.
  while (!open_requests_.empty()) {
    dropped(*open_requests_.back());
    open_requests_.back()->finish();
  }
  if (farewells_.empty()) say_farewell(nullptr, /*mismatched=*/false);

  for (int process = 0; process < environment_.size; ++process) {
    const auto at = static_cast<std::size_t>(process);
    if (process == environment_.rank || heard_from_[at]) continue;
    if (farewells_[at].state != Farewell::State::kFailed) continue;
    Notice notice;
    check(MPI_Recv(&notice, sizeof(Notice), MPI_BYTE, process, kNoticeTag, environment_.lobby,
                   MPI_STATUS_IGNORE),
          "MPI_Recv");
  }
  check(MPI_Waitall(static_cast<int>(notices_.size()), notices_.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");

  if (dropped_request_ != nullptr) return dropped_request_;
  if (error != nullptr) return error;
  return has_failed() || rank_ < 0 ? nullptr : left_behind();
}

std::exception_ptr Run::left_behind() {
  // All receives have ended; a send that was received is done as soon as its answer is here.
  const Clock::time_point begin = Clock::now();
  while (!buffered_sends_.empty() && seconds_since(begin) < 0.1) {
    while (!buffered_sends_.empty() && test(buffered_sends_.front().message))
      buffered_sends_.pop_front();
  }
  if (buffered_sends_.empty()) return nullptr;
  const Message& first = buffered_sends_.front().message;
  std::exception_ptr error = std::make_exception_ptr(UnreceivedMessage(
      fmt::format("unreceived message: {}{}; every send needs its receive", first.in_words(),
                  buffered_sends_.size() > 1
                      ? fmt::format(" (and {} more)", buffered_sends_.size() - 1)
                      : ""),
      first.caller.context(first.world_peer())));
  // MPI holds on to the data.
  auto kept = std::make_shared<std::deque<BufferedSend>>(std::move(buffered_sends_));
  buffered_sends_.clear();
  keep_for_good(kept);
  return error;
}

}  // namespace rankbox::mpi
