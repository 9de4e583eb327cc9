#include "launch/star.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include "comm/errors.h"
#include "launch/hello.h"
#include "launch/meet.h"
#include "launch/wire.h"

namespace rankbox::launcher {

namespace {

constexpr double kGrace = 5;  // s beyond a deadline: rank 0 keeps time, and its word is on the way
constexpr double kToAgree = 2;  // s for rank 0 to say which failure was the first
constexpr double kToLeave = 1;  // s for a goodbye to get away
constexpr int kNap = 50;        // ms; another thread may have read what this one waits for
constexpr std::int64_t kLookEvery = 1'000'000;  // ns
constexpr std::size_t kLongestJob = 1024;
constexpr double kMostSeconds = 30 * 24 * 3600.0;

std::int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

double checked(double seconds) {
  if (seconds > 0 && seconds <= kMostSeconds) return seconds;
  throw InvalidArgument(fmt::format(
      "a wait of {} s makes no sense: above 0, and 30 days at most, is needed", seconds));
}

StarOptions checked(StarOptions options) {
  checked(options.seconds);
  if (options.job.size() > kLongestJob) {
    throw InvalidArgument(
        fmt::format("the name of a job has {} letters: {} are the most (RANKBOX_JOB)",
                    options.job.size(), kLongestJob));
  }
  if (options.world_size >= 1 && options.rank >= 0 && options.rank < options.world_size) {
    return options;
  }
  throw InvalidArgument(
      fmt::format("rank {} of {} does not exist: 0 <= rank < world_size is needed", options.rank,
                  options.world_size));
}

}  // namespace

Star::Star(StarOptions options)
    : options_(checked(std::move(options))), exceptions_(std::uncaught_exceptions()) {
  const Hello mine = {kProtocolVersion, rank(), world_size(), options_.job, this_process()};
  if (rank() == 0) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      throw Error(fmt::format("rank 0 cannot make a pair of sockets: {}", std::strerror(errno)),
                  {0, "start", -1, "", 0});
    }
    Fd own(ends[0]), hubs(ends[1]);
    hub_ = std::make_unique<Hub>(options_, mine, std::move(hubs));
    line_ = std::make_unique<Connection>(std::move(own), kMostContent);
  } else {
    line_ = meet(options_, mine, Deadline::after(options_.seconds));
  }
  // Rank 0 may have come later than we did, and waits its full time for the others.
  if (!wait(Deadline::after(options_.seconds + kGrace), [this] { return started_; }))
    abort("start");
}

Star::~Star() {
  const bool is_unwinding = std::uncaught_exceptions() > exceptions_;
  try {
    if (is_unwinding && !first_failure()) {
      stop(fmt::format("rank {} ({}) ended with an exception", rank(), this_process()), rank());
    }
    const std::lock_guard lock(mutex_);
    if (!failure_) line_->send(bytes_of(MessageType::kGoodbye, ""));
  } catch (const std::exception&) {  // no memory: the end of the connection has to do
  }
  for (const Deadline until = Deadline::after(kToLeave);
       line_->wants_to_write() && !until.passed();) {
    pollfd waiting = {line_->fd(), POLLOUT, 0};
    poll(&waiting, 1, until.milliseconds_left());
    line_->flush();
  }
  line_.reset();  // ends the hub's thread, too
  hub_.reset();
}

std::string Star::broadcast_bytes(const std::string& bytes, std::optional<double> seconds) {
  return call(Collective::kBroadcast, rank() == 0 ? bytes : "", seconds);
}

std::vector<std::string> Star::gather_bytes(const std::string& bytes,
                                            std::optional<double> seconds) {
  return unpack(call(Collective::kGather, bytes, seconds));
}

std::vector<std::string> Star::all_gather_bytes(const std::string& bytes,
                                                std::optional<double> seconds) {
  return unpack(call(Collective::kAllGather, bytes, seconds));
}

void Star::barrier(std::optional<double> seconds) { call(Collective::kBarrier, "", seconds); }

bool Star::stopped() {
  if (stopped_) return true;
  std::int64_t last = last_look_;
  const std::int64_t time = now();
  if (time - last < kLookEvery || !last_look_.compare_exchange_strong(last, time)) return false;
  const std::lock_guard lock(mutex_);
  if (waiting_ == 0) pump();  // else that thread takes what comes, and must not miss it
  return stopped_;
}

std::optional<Failure> Star::first_failure() {
  const std::lock_guard lock(mutex_);
  if (waiting_ == 0) pump();
  return failure_;
}

void Star::stop(const std::string& reason, int rank) {
  {
    const std::lock_guard lock(mutex_);
    pump();
    if (failure_) return;
    line_->send(bytes_of(MessageType::kStop, encode(Failure{rank, reason})));
  }
  wait(Deadline::after(kToAgree), [this] { return failure_.has_value(); });
  const std::lock_guard lock(mutex_);
  fail({rank, reason});  // if rank 0 has not said otherwise: then it cannot be asked
}

void Star::check(const std::string& op) {
  if (stopped()) abort(op);
}

std::string Star::call(Collective collective, const std::string& bytes,
                       std::optional<double> seconds) {
  const double patience = checked(seconds.value_or(options_.seconds));
  if (bytes.size() > kMostContent / 2) {
    throw InvalidArgument(fmt::format("{} of {} bytes: {} MiB a rank is the most",
                                      name_of(collective), bytes.size(), kMostContent >> 21),
                          {rank(), name_of(collective), -1, "", 0});
  }
  {
    const std::lock_guard lock(mutex_);
    release_.reset();
    const auto milliseconds = static_cast<std::uint32_t>(std::max(1.0, patience * 1000));
    line_->send(bytes_of(MessageType::kContribution,
                         encode(Contribution{collective, sequence_++, milliseconds, bytes})));
  }
  if (!wait(Deadline::after(patience + kGrace), [this] { return release_.has_value(); })) {
    give_up();
    abort(name_of(collective));
  }
  const std::lock_guard lock(mutex_);
  return *std::exchange(release_, std::nullopt);
}

/// Until done(), which is asked under the lock. False: it will not be, or not in time.
template <class Done>
bool Star::wait(const Deadline& deadline, Done done) {
  std::unique_lock lock(mutex_);
  ++waiting_;
  while (true) {
    pump();
    if (done() || failure_ || deserted_ || deadline.passed()) break;
    const int events = line_->wants_to_write() ? POLLIN | POLLOUT : POLLIN;
    pollfd waiting = {line_->fd(), static_cast<short>(events), 0};
    lock.unlock();
    poll(&waiting, 1, deadline.milliseconds_left(kNap));
    lock.lock();
  }
  --waiting_;
  return done();
}

/// After a wait in vain: says why, if rank 0 has not.
void Star::give_up() {
  const std::lock_guard lock(mutex_);
  if (deserted_) {
    fail({0,
          fmt::format("rank 0 has left, and rank {} waits for it: end with a barrier on all ranks",
                      rank())});
  } else {
    fail({0,
          fmt::format(
              "rank 0 does not answer rank {}: is it stopped, is its machine or the network down?",
              rank())});
  }
}

/// Takes what has come, sends what can be sent. Under the lock.
void Star::pump() {
  line_->flush();
  const bool open = line_->read();
  while (auto message = line_->next()) take(std::move(*message));
  if (!open && !deserted_) fail({0, "rank 0 " + line_->end_in_words()});
}

void Star::take(Message message) {
  switch (message.type) {
    case MessageType::kStart:
      started_ = true;
      break;
    case MessageType::kRelease:
      release_ = std::move(message.content);
      break;
    case MessageType::kStop:
      fail(decode_failure(message.content));
      break;
    case MessageType::kGoodbye:
      deserted_ = true;
      break;
    default:
      fail({0, fmt::format("rank 0 sent a message out of turn, of type {}",
                           static_cast<int>(message.type))});
  }
}

/// Keeps the first. Under the lock.
void Star::fail(Failure failure) {
  if (failure_) return;
  failure_ = std::move(failure);
  stopped_ = true;
}

void Star::abort(const std::string& op) {
  const Failure failure = first_failure().value();
  throw Aborted(fmt::format("rank {}: {}: {}", rank(), op, failure.reason),
                {rank(), op, failure.rank, "", 0});
}

}  // namespace rankbox::launcher
