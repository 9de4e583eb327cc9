#include "gpu/launch/process_group.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <thread>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include "comm/error_bytes.h"
#include "comm/errors.h"
#include "comm/result_bytes.h"

namespace rankbox::launcher {

namespace {

constexpr std::size_t kMaxHandshake = 8192;       // bytes, from a possibly foreign process
constexpr std::size_t kMaxReply = 2 * kMaxBytes;  // lengths included
constexpr double kGrace = 3;                      // seconds, for rank 0 to report missing ranks
constexpr double kStrangerSeconds = 2;            // for a handshake that has begun
constexpr double kReplySeconds = 60;              // for a process to read a reply

using Strings = ProcessGroup::Strings;

/// A process's job, rank, world size and name.
using Handshake = std::tuple<std::string, int, int, std::string>;
/// Rank 0's reply in an all-gather: all ranks' bytes, and the bytes of an error, if any.
using Reply = std::pair<Strings, std::string>;

std::string name_of_process() {
  const std::string host = this_host();
  return fmt::format("pid {} on {}", getpid(), host.substr(0, host.find(' ')));
}

std::string handshake_of(const RankVariables& who) {
  constexpr std::size_t kMaxJob = 1000;
  return to_bytes(
      Handshake(who.job.substr(0, kMaxJob), who.rank, who.world_size, name_of_process()));
}

std::vector<int> absent(const Strings& strings) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < strings.size(); ++rank)
    if (!strings[rank]) ranks.push_back(static_cast<int>(rank));
  return ranks;
}

/// Returns "rank 2", "ranks 1, 2, 5", or "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 12 more".
std::string list(std::vector<int> ranks) {
  constexpr std::size_t kMaxNamed = 8;
  const std::size_t all = ranks.size();
  ranks.resize(std::min(all, kMaxNamed));
  return fmt::format("{} {}{}", all == 1 ? "rank" : "ranks", fmt::join(ranks, ", "),
                     all > kMaxNamed ? fmt::format(" and {} more", all - kMaxNamed) : "");
}

bool has_passed(Deadline deadline) { return std::chrono::steady_clock::now() >= deadline; }

/// Blocks until a socket is readable or the deadline passes. Returns for each whether it is
/// readable.
std::vector<bool> wait_for_any(const std::vector<Fd>& sockets, Deadline deadline) {
  std::vector<pollfd> waiting;
  for (const Fd& each : sockets) waiting.push_back({each.get(), POLLIN, 0});
  poll(waiting.data(), waiting.size(), milliseconds_until(deadline));
  std::vector<bool> readable;
  for (const pollfd& each : waiting) readable.push_back(each.revents != 0);
  return readable;
}

/// Sends to a peer that may be gone; a failure shows when the peer should answer.
void try_to_send(const Fd& socket, const std::string& bytes, std::size_t limit, double seconds) {
  try {
    if (socket.is_open()) send_message(socket, bytes, 0, limit, deadline_after(seconds));
  } catch (const Disconnected&) {
  }
}

std::exception_ptr rank_failed(const std::vector<int>& ranks, const std::string& what) {
  return std::make_exception_ptr(
      RankFailed(fmt::format("{} {}: look at the output of each", list(ranks), what),
                 {ranks.front(), "", -1, "", 0}));
}

}  // namespace

std::string this_host() {
  std::array<char, 256> name = {};
  if (gethostname(name.data(), name.size() - 1) != 0) name = {'?'};
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return name.data() + (" " + boot);
}

ProcessGroup::ProcessGroup(const RankVariables& who, const Endpoint& endpoint, double seconds)
    : who_(who) {
  if (rank() == 0) {
    accept_all(endpoint, seconds);
  } else {
    connect_to_rank_0(endpoint, seconds);
  }
}

void ProcessGroup::accept_all(const Endpoint& endpoint, double seconds) {
  const Deadline deadline = deadline_after(seconds);
  sockets_.resize(static_cast<std::size_t>(world_size()));
  names_.resize(sockets_.size());
  names_[0] = name_of_process();
  std::vector<Fd> waiting;  // the listener, and connections without a handshake
  try {
    waiting.push_back(listen_at(endpoint));
    for (auto missing = absent(names_); !missing.empty(); missing = absent(names_)) {
      if (has_passed(deadline)) {
        throw Error(
            fmt::format("{} of {} did not connect to rank 0 at {} within {:g} s: are they running, "
                        "with the same MASTER_ADDR and RANKBOX_PORT, and is the port open in the "
                        "firewall?",
                        list(missing), world_size(), to_string(endpoint), seconds),
            {0, "start", missing.front(), "", 0});
      }
      const std::vector<bool> readable = wait_for_any(waiting, deadline);
      for (std::size_t i = 1; i < readable.size(); ++i)
        if (readable[i]) admit(std::exchange(waiting[i], Fd()));
      for (Fd socket = accept_from(waiting[0]); socket.is_open(); socket = accept_from(waiting[0]))
        waiting.push_back(std::move(socket));
      std::erase_if(waiting, [](const Fd& each) { return !each.is_open(); });
    }
  } catch (...) {
    const std::string error = error_to_bytes(std::current_exception());
    for (const Fd& each : sockets_) try_to_send(each, error, kMaxHandshake, kGrace);
    throw;
  }
  for (const Fd& each : sockets_) try_to_send(each, "", kMaxHandshake, kGrace);
}

/// Admits a process whose handshake has begun to arrive. Drops foreign processes; throws if it and
/// this job contradict each other.
void ProcessGroup::admit(Fd socket) {
  Handshake handshake;
  try {
    handshake = from_bytes<Handshake>(
        receive_message(socket, kMaxHandshake, deadline_after(kStrangerSeconds)).bytes);
  } catch (const std::runtime_error&) {
    return;
  }
  const auto& [job, rank, size, name] = handshake;
  if (rank < 1 || rank >= size) return;
  const auto refuse = [&, rank = rank](const std::string& why) {
    InvalidArgument error(why, {rank, "start", 0, "", 0});
    try_to_send(socket, error_to_bytes(std::make_exception_ptr(error)), kMaxHandshake, kGrace);
    return error;
  };
  if (job != who_.job) {
    refuse(
        fmt::format("two jobs use one port: rank 0 ({}) is of job '{}', but rank {} ({}) of job "
                    "'{}': give each job a RANKBOX_PORT of its own",
                    *names_[0], who_.job, rank, name, job));
    return;
  }
  if (size != world_size()) {
    throw refuse(
        fmt::format("the world size is {} for rank 0 ({}), but {} for rank {} ({}): set the same "
                    "WORLD_SIZE on all ranks",
                    world_size(), *names_[0], size, rank, name));
  }
  std::optional<std::string>& taken = names_[static_cast<std::size_t>(rank)];
  if (taken) {
    throw refuse(fmt::format("two processes are rank {}: {} and {}: give each process its own RANK",
                             rank, *taken, name));
  }
  taken = name;
  sockets_[static_cast<std::size_t>(rank)] = std::move(socket);
}

void ProcessGroup::connect_to_rank_0(const Endpoint& endpoint, double seconds) {
  using std::chrono::milliseconds;
  const Deadline deadline = deadline_after(seconds);
  const std::string handshake = handshake_of(who_);
  std::string problem;
  for (milliseconds pause(10);; pause = std::min(pause * 3 / 2, milliseconds(250))) {
    try {
      Fd socket = connect_to(endpoint, deadline);
      send_message(socket, handshake, seconds, kMaxHandshake, deadline);
      // From now on, rank 0 may wait this long for the other ranks.
      const Message answer =
          receive_message(socket, kMaxHandshake, deadline_after(seconds + kGrace));
      if (answer.size == 0) {
        sockets_.push_back(std::move(socket));
        return;
      }
      // If no process listens, the kernel may connect a socket to itself.
      if (answer.bytes != handshake) std::rethrow_exception(error_from_bytes(answer.bytes));
    } catch (const Disconnected& why) {
      // An attempt cut short by the deadline explains less than the one before.
      if (problem.empty() || !has_passed(deadline)) problem = why.what();
    }
    if (has_passed(deadline)) {
      throw Error(
          fmt::format("rank {} cannot reach rank 0 at {} after {:g} s ({}): is rank 0 running "
                      "there, and is the port open in its firewall? Set MASTER_ADDR (now from {}) "
                      "and RANKBOX_PORT, the same on all ranks",
                      rank(), to_string(endpoint), seconds, problem, endpoint.source),
          {rank(), "start", 0, "", 0});
    }
    std::this_thread::sleep_for(std::min(pause, milliseconds(milliseconds_until(deadline))));
  }
}

ProcessGroup::Gathered ProcessGroup::all_gather(const std::string& mine, double seconds) {
  Gathered all = {{}, broken_};
  if (!broken_) all = rank() == 0 ? collect(mine, seconds) : ask_rank_0(mine, seconds);
  all.bytes.resize(static_cast<std::size_t>(world_size()));
  return all;
}

/// On rank 0: receives every rank's bytes, and sends all of them to every rank.
ProcessGroup::Gathered ProcessGroup::collect(const std::string& mine, double seconds) {
  Gathered all = {Strings(sockets_.size()), nullptr};
  all.bytes[0] = mine;
  std::size_t total = mine.size();
  Deadline deadline = deadline_after(seconds);
  std::vector<int> missing = absent(all.bytes);
  while (!missing.empty() && !broken_) {
    if (has_passed(deadline))
      broken_ = rank_failed(missing, fmt::format("did not answer within {:g} s", seconds));
    const std::vector<bool> readable = wait_for_any(sockets_, deadline);
    for (std::size_t rank = 1; rank < readable.size(); ++rank) {
      if (!readable[rank]) continue;
      try {
        Message message = receive_message(sockets_[rank], kMaxBytes, deadline);
        total += message.size;
        all.bytes[rank] = std::move(message.bytes);
        seconds = std::min(seconds, message.seconds);
        deadline = std::min(deadline, deadline_after(message.seconds));
      } catch (const Disconnected& why) {
        broken_ =
            rank_failed({static_cast<int>(rank)},
                        fmt::format("({}) ended too early, or its machine or network did ({})",
                                    *names_[rank], why.what()));
      }
    }
    missing = absent(all.bytes);
  }
  if (total > kMaxBytes) {
    all.bytes.clear();
    broken_ = std::make_exception_ptr(InvalidArgument(
        fmt::format("an all-gather of {} bytes: processes may pass {} MiB together: return less",
                    total, kMaxBytes >> 20)));
  }
  all.problem = broken_;
  const std::string reply =
      to_bytes(Reply(all.bytes, broken_ ? error_to_bytes(broken_) : std::string()));
  for (const Fd& each : sockets_) try_to_send(each, reply, kMaxReply, kReplySeconds);
  return all;
}

ProcessGroup::Gathered ProcessGroup::ask_rank_0(const std::string& mine, double seconds) {
  const Deadline deadline = deadline_after(seconds + kGrace);
  try {
    // A reply that has already arrived means that this rank is late.
    if (!wait_for_any(sockets_, deadline_after(0))[0])
      send_message(sockets_[0], mine, seconds, kMaxBytes, deadline);
    const auto [bytes, error] =
        from_bytes<Reply>(receive_message(sockets_[0], kMaxReply, deadline).bytes);
    if (!error.empty()) broken_ = error_from_bytes(error);
    return {bytes, broken_};
  } catch (const Disconnected& why) {
    broken_ = rank_failed({0}, fmt::format("does not answer rank {} ({})", rank(), why.what()));
    return {{}, broken_};
  }
}

}  // namespace rankbox::launcher
