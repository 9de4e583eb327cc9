#include "launch/hub.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <poll.h>

#include "comm/errors.h"
#include "launch/connection.h"
#include "launch/deadline.h"
#include "launch/failure.h"
#include "launch/listener.h"
#include "launch/roll_call.h"

namespace rankbox::launcher {

namespace {

constexpr double kToSayHello = 5;     // s; who connects and says nothing is cut off
constexpr double kToReadRefusal = 2;  // s
constexpr double kToFlush = 1;        // s, at the end, for what was said last to get away
constexpr double kToRead = 0.25;      // s, then, for the others to take it and leave
constexpr double kToComeLate = 2;     // s after a failed start, for the others to come and be told
constexpr std::size_t kMostGuests = 1024;

class HubLoop {
 public:
  HubLoop(const StarOptions& options, const Hello& mine, Fd own)
      : options_(options),
        mine_(mine),
        members_(static_cast<std::size_t>(options.world_size)),
        roll_call_(options.world_size),
        start_(Deadline::after(options.seconds)) {
    if (options.world_size > 1) listener_.emplace(options.at.address, options.at.port);
    members_.front() = {std::make_unique<Connection>(std::move(own)), mine.who, false};
    members_.front().line->trust();
    count_ = 1;
  }

  void run();

 private:
  /// Somebody who connected, and is not known yet, or was refused.
  struct Guest {
    Connection line;
    std::string from;
    Deadline until;
    bool refused = false;
  };
  struct Member {
    std::unique_ptr<Connection> line;  // null: not here yet, or gone
    std::string who;                   // "pid 4711 on node7"; empty: has never been here
    bool said_goodbye = false;
  };

  int world_size() const { return options_.world_size; }
  void sleep();
  void let_in();
  void serve_guests();
  bool meet(Guest& guest);
  void serve_members();
  void take(int rank, const Message& message);
  void contribute(int rank, const Message& message);
  void lose(int rank);
  void watch_clock();
  void fail(int rank, const std::string& reason);
  void tell_all(const Bytes& message);
  void begin_to_finish();
  bool is_finished();

  const StarOptions options_;
  const Hello mine_;
  std::optional<Listener> listener_;  // until all are here
  std::list<Guest> guests_;
  std::vector<Member> members_;  // [rank]
  int count_ = 0;                // members that came
  int latecomers_ = 0;           // who came in vain, of our own job
  bool started_ = false;
  RollCall roll_call_;
  const Deadline start_;
  std::optional<Failure> failure_;
  std::optional<Deadline> finish_;   // rank 0 has ended its side
  std::optional<Deadline> flushed_;  // and all is sent
};

void HubLoop::run() {
  try {
    while (!is_finished()) {
      if (!started_ && count_ == world_size() && !failure_) {
        started_ = true;
        listener_.reset();
        tell_all(bytes_of(MessageType::kStart, ""));
      }
      sleep();
      let_in();
      serve_guests();
      serve_members();
      watch_clock();
    }
  } catch (const std::exception& error) {  // no memory: the end of all connections tells the others
    try {
      fail(0,
           fmt::format("rank 0 ({}) can serve the others no longer: {}", mine_.who, error.what()));
    } catch (const std::exception&) {
    }
  }
}

/// Until a socket has something for us, or a deadline passes.
void HubLoop::sleep() {
  std::vector<pollfd> waiting;
  Deadline wake = Deadline::after(3600);
  const auto watch = [&waiting](const Connection& line) {
    const int events = line.wants_to_write() ? POLLIN | POLLOUT : POLLIN;
    waiting.push_back({line.fd(), static_cast<short>(events), 0});
  };
  if (listener_) {
    for (const Fd& each : listener_->sockets()) waiting.push_back({each.get(), POLLIN, 0});
  }
  for (const Guest& guest : guests_) {
    watch(guest.line);
    wake = std::min(wake, guest.until);
  }
  for (const Member& member : members_) {
    if (member.line) watch(*member.line);
  }
  if (!started_ && !failure_) wake = std::min(wake, start_);
  if (roll_call_.is_open() && !failure_) wake = std::min(wake, roll_call_.deadline());
  if (finish_) wake = std::min(wake, flushed_ ? *flushed_ : *finish_);
  poll(waiting.data(), waiting.size(), wake.milliseconds_left());
}

void HubLoop::let_in() {
  while (listener_) {
    Listener::Accepted accepted = listener_->accept();
    if (accepted.error != 0) {
      listener_.reset();
      fail(0, fmt::format("rank 0 ({}) cannot take another connection ({}): raise its `ulimit -n`",
                          mine_.who, std::strerror(accepted.error)));
    }
    if (!accepted.socket.is_open()) return;
    if (guests_.size() >= kMostGuests) continue;  // this many at once are no ranks of ours
    guests_.push_back(
        {Connection(std::move(accepted.socket)), accepted.from, Deadline::after(kToSayHello)});
  }
}

void HubLoop::serve_guests() {
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    guest->line.flush();
    const bool open = guest->line.read();
    const bool is_in = !guest->refused && meet(*guest);
    const bool is_over = !open || guest->line.is_stranger() || guest->until.passed();
    guest = is_in || is_over ? guests_.erase(guest) : std::next(guest);
  }
}

/// True: the guest has become a member.
bool HubLoop::meet(Guest& guest) {
  const auto message = guest.line.next();
  if (!message) return false;
  guest.until = Deadline::after(kToReadRefusal);
  guest.refused = true;
  Hello hello;
  try {
    if (message->type != MessageType::kHello) return false;
    hello = decode_hello(message->content);
  } catch (const Error&) {
    return false;
  }
  hello.who += " from " + guest.from;
  if (failure_) {
    ++latecomers_;
    // It does not know us yet, and takes short messages only.
    const Failure told = {failure_->rank, failure_->reason.substr(0, kMostOfStranger / 2)};
    guest.line.send(bytes_of(MessageType::kStop, encode(told)));
    return false;
  }
  std::string differs = disagreement(mine_, hello);
  if (differs.empty()) {
    const Member& there = members_[static_cast<std::size_t>(hello.rank)];
    if (!there.who.empty()) {
      differs =
          fmt::format("two processes are rank {}: {} and {}: give every process a RANK of its own",
                      hello.rank, there.who, hello.who);
    }
  }
  if (!differs.empty()) {
    guest.line.send(bytes_of(MessageType::kRefused, differs));
    // Another job's rank went astray; one of our own means that our world can never be complete.
    if (hello.job == mine_.job) {
      ++latecomers_;
      fail(hello.rank, differs);
    }
    return false;
  }
  guest.line.trust();
  guest.line.send(bytes_of(MessageType::kWelcome, encode(mine_)));
  members_[static_cast<std::size_t>(hello.rank)] = {
      std::make_unique<Connection>(std::move(guest.line)), hello.who, false};
  ++count_;
  return true;
}

void HubLoop::serve_members() {
  for (int rank = 0; rank < world_size(); ++rank) {
    Member& member = members_[static_cast<std::size_t>(rank)];
    if (!member.line) continue;
    member.line->flush();
    const bool open = member.line->read();
    while (const auto message = member.line->next()) take(rank, *message);
    if (!open || member.line->is_stranger()) lose(rank);
  }
}

void HubLoop::take(int rank, const Message& message) {
  Member& member = members_[static_cast<std::size_t>(rank)];
  try {
    if (message.type == MessageType::kContribution) return contribute(rank, message);
    if (message.type == MessageType::kStop) {
      const Failure failure = decode_failure(message.content);
      return fail(failure.rank, failure.reason);
    }
    if (message.type == MessageType::kGoodbye) {
      member.said_goodbye = true;
      if (roll_call_.is_open() && !roll_call_.has(rank)) {
        fail(
            rank,
            fmt::format(
                "rank {} ({}) has left, and {} waits for it in {}: end with a barrier on all ranks",
                rank, member.who, ranks_in_words(roll_call_.present()), roll_call_.title()));
      }
      return;
    }
    fail(rank, fmt::format("rank {} ({}) sent a message out of turn, of type {}", rank, member.who,
                           static_cast<int>(message.type)));
  } catch (const Error& error) {
    fail(rank, fmt::format("rank {} ({}) sent a message that nobody understands: {}", rank,
                           member.who, error.what()));
  }
}

void HubLoop::contribute(int rank, const Message& message) {
  if (failure_) return;
  const std::string wrong = roll_call_.come(rank, decode_contribution(message.content));
  if (!wrong.empty()) return fail(rank, wrong);
  for (int other = 0; other < world_size(); ++other) {
    if (!members_[static_cast<std::size_t>(other)].said_goodbye) continue;
    return fail(
        other,
        fmt::format(
            "rank {} has left, and rank {} waits for it in {}: end with a barrier on all ranks",
            other, rank, roll_call_.title()));
  }
  if (!roll_call_.is_complete()) return;
  const std::string title = roll_call_.title();
  const std::vector<Bytes> releases = roll_call_.release();
  if (releases.empty()) {
    return fail(-1, fmt::format("{}: all ranks' bytes together are more than {} MiB: pass less",
                                title, kMostContent >> 20));
  }
  for (std::size_t i = releases.size(); i-- > 0;) {
    if (members_[i].line) members_[i].line->send(releases[i]);
  }
}

/// Its connection has ended.
void HubLoop::lose(int rank) {
  Member& member = members_[static_cast<std::size_t>(rank)];
  const std::string end = member.line->end_in_words();
  member.line.reset();
  if (!member.said_goodbye) fail(rank, fmt::format("rank {} ({}) {}", rank, member.who, end));
  if (rank == 0) begin_to_finish();
}

void HubLoop::watch_clock() {
  if (failure_) return;
  if (!started_ && count_ < world_size() && start_.passed()) {
    std::vector<int> missing;
    for (int rank = 0; rank < world_size(); ++rank) {
      if (members_[static_cast<std::size_t>(rank)].who.empty()) missing.push_back(rank);
    }
    fail(missing.front(),
         fmt::format("{} of {} did not come to rank 0 ({}) at {} within {:g} s: were all started, "
                     "can they reach "
                     "it? (MASTER_ADDR, RANKBOX_PORT, firewalls)",
                     ranks_in_words(missing), world_size(), mine_.who,
                     endpoint(options_.at.address, options_.at.port), options_.seconds));
  } else if (roll_call_.is_open() && roll_call_.deadline().passed()) {
    const std::vector<int> missing = roll_call_.missing();
    fail(missing.front(), fmt::format("{}: {} did not come within {:g} s, and {} waited",
                                      roll_call_.title(), ranks_in_words(missing),
                                      roll_call_.seconds(), ranks_in_words(roll_call_.present())));
  }
}

void HubLoop::fail(int rank, const std::string& reason) {
  if (failure_) return;
  failure_ = {rank, reason};
  tell_all(bytes_of(MessageType::kStop, encode(*failure_)));
}

/// Rank 0 last, here and elsewhere: it may end its process, and this thread, on what it hears.
void HubLoop::tell_all(const Bytes& message) {
  for (std::size_t i = members_.size(); i-- > 0;) {
    if (members_[i].line) members_[i].line->send(message);
  }
}

void HubLoop::begin_to_finish() {
  const bool late = listener_ && failure_ && !start_.passed();
  finish_ = Deadline::after(late ? kToComeLate : kToFlush);
  if (!failure_) tell_all(bytes_of(MessageType::kGoodbye, ""));
}

bool HubLoop::is_finished() {
  if (!finish_) return false;
  if (finish_->passed()) return true;
  // A start that failed: those on their way would knock in vain until their time is up.
  if (listener_ && failure_ && !start_.passed() && count_ + latecomers_ < world_size())
    return false;
  listener_.reset();

  // Closing a connection at once could overtake what was sent last: let it be read.
  bool all_gone = guests_.empty(), all_sent = true;
  for (Guest& guest : guests_) {
    if (!guest.refused) guest.until = Deadline::after(0);
    all_sent = all_sent && !guest.line.wants_to_write();
  }
  for (const Member& member : members_) {
    if (!member.line) continue;
    all_gone = false;
    all_sent = all_sent && !member.line->wants_to_write();
  }
  if (all_sent && !flushed_) {
    flushed_ = std::min(*finish_, Deadline::after(kToRead));
    for (const Member& member : members_) {
      if (member.line) member.line->end_writing();
    }
  }
  return all_gone || (flushed_ && flushed_->passed());
}

}  // namespace

Hub::Hub(const StarOptions& options, const Hello& mine, Fd own) {
  auto loop = std::make_unique<HubLoop>(options, mine, std::move(own));
  // Signals are for the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([loop = std::move(loop)] { loop->run(); });
  } catch (const std::system_error& error) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw Error(fmt::format("rank 0 cannot start a thread: {}", error.what()),
                {0, "start", -1, "", 0});
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace rankbox::launcher
