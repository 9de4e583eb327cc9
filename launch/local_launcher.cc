#include "launch/local_launcher.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm/errors.h"
#include "launch/deadline.h"
#include "launch/group_guard.h"
#include "launch/rank_process.h"
#include "launch/reserved_port.h"

namespace rankbox::launcher {

namespace {

constexpr int kMostProcesses = 4096;
constexpr int kTick = 100;  // ms; a signal wakes us before, unless another thread took it

/// While one lives, the signals we wait for are blocked, and dead children wait for us.
class SignalsHeld {
 public:
  SignalsHeld() {
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &standard, &of_children_);
    sigemptyset(&held_);
    sigaddset(&held_, SIGCHLD);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction now = {};
      sigaction(signal, nullptr, &now);
      if (now.sa_handler != SIG_IGN) sigaddset(&held_, signal);  // nohup: not for us
    }
    pthread_sigmask(SIG_BLOCK, &held_, &before_);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld() {
    sigaction(SIGCHLD, &of_children_, nullptr);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  const sigset_t& before() const { return before_; }

  /// The next signal, SIGCHLD included; 0: none came in time.
  int wait(int milliseconds) const {
    const timespec time = {milliseconds / 1000, milliseconds % 1000 * 1'000'000L};
    return std::max(0, sigtimedwait(&held_, nullptr, &time));
  }

 private:
  struct sigaction of_children_ = {};
  sigset_t held_ = {}, before_ = {};
};

/// Ours, with these instead of what has the same names.
std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view entry = *each;
    const std::string_view name = entry.substr(0, entry.find('='));
    const bool replaced = std::any_of(variables.begin(), variables.end(),
                                      [name](const auto& own) { return own.first == name; });
    if (!replaced) all.emplace_back(entry);
  }
  for (const auto& [name, value] : variables) all.push_back(fmt::format("{}={}", name, value));
  return all;
}

class Launch {
 public:
  explicit Launch(const LaunchOptions& options) : options_(options) {
    const std::string job = fmt::format(
        "local-{}-{}", getpid(), std::chrono::steady_clock::now().time_since_epoch().count());
    const std::string size = std::to_string(options.processes);
    for (int rank = 0; rank < options.processes; ++rank) {
      std::vector<std::pair<std::string, std::string>> variables = options.variables;
      variables.insert(variables.end(), {{"RANK", std::to_string(rank)},
                                         {"WORLD_SIZE", size},
                                         {"LOCAL_RANK", std::to_string(rank)},
                                         {"LOCAL_WORLD_SIZE", size},
                                         {"GROUP_RANK", "0"},
                                         {"MASTER_ADDR", "127.0.0.1"},
                                         {"RANKBOX_PORT", std::to_string(port_.number())},
                                         {"RANKBOX_JOB", job}});
      ranks_.emplace_back(options.command, environment_with(variables), signals_.before());
      guard_.watch(ranks_.back().pid());
    }
  }

  LaunchResult run() {
    while (std::any_of(ranks_.begin(), ranks_.end(),
                       [](const RankProcess& rank) { return rank.is_running(); })) {
      const int signal = signals_.wait(next_ ? next_->milliseconds_left(kTick) : kTick);
      if (signal != 0 && signal != SIGCHLD) interrupt(signal);
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        if (!ranks_[rank].has_ended()) continue;
        guard_.forget(ranks_[rank].pid());
        judge(static_cast<int>(rank));
      }
      if (next_ && next_->passed()) press();
    }
    return result_;
  }

 private:
  // What the others were told so far, of one that failed.
  enum class Pressure { kNone, kLeftToNotice, kAsked, kKilled };

  void send_all(int signal) const {
    for (const RankProcess& rank : ranks_) rank.send(signal);
  }

  void interrupt(int signal) {
    if (pressure_ >= Pressure::kAsked) {  // again
      next_ = Deadline::after(0);
      return;
    }
    if (result_.message.empty()) {
      result_ = {128 + signal, -1, signal,
                 fmt::format("stopped by signal {} ({})", signal, strsignal(signal))};
    }
    send_all(signal);
    pressure_ = Pressure::kAsked;
    next_ = Deadline::after(options_.grace_seconds);
  }

  /// Rank has ended.
  void judge(int rank) {
    const RankProcess& process = ranks_[static_cast<std::size_t>(rank)];
    const int status = process.status();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const bool is_first = result_.message.empty();
    // Those that notice a death may be gone before the dead: closing a GPU takes its time.
    const bool by_itself = signal != 0 && (pressure_ < Pressure::kAsked || signal != SIGTERM) &&
                           (pressure_ < Pressure::kKilled || signal != SIGKILL);
    if (!is_first && !(by_itself && result_.signal == 0)) return;
    const std::string who = fmt::format("rank {} (pid {})", rank, process.pid());
    if (signal != 0) {
      result_ = {128 + signal, rank, signal,
                 fmt::format("{} died of signal {} ({})", who, signal, strsignal(signal))};
    } else {
      const int code = WEXITSTATUS(status);
      result_ = {code, rank, 0, fmt::format("{} failed with exit code {}", who, code)};
    }
    if (pressure_ == Pressure::kNone) {
      pressure_ = Pressure::kLeftToNotice;
      next_ = Deadline::after(options_.settle_seconds);
    }
  }

  void press() {
    const bool ask = pressure_ == Pressure::kLeftToNotice;
    send_all(ask ? SIGTERM : SIGKILL);
    pressure_ = ask ? Pressure::kAsked : Pressure::kKilled;
    next_.reset();
    if (ask) next_ = Deadline::after(options_.grace_seconds);
  }

  const LaunchOptions options_;
  const SignalsHeld signals_;
  const ReservedPort port_;
  GroupGuard guard_;
  std::vector<RankProcess> ranks_;  // killed when this goes, before the signals are let through
  LaunchResult result_;
  Pressure pressure_ = Pressure::kNone;
  std::optional<Deadline> next_;  // when to press on
};

}  // namespace

LaunchResult launch_local(const LaunchOptions& options) {
  if (options.processes < 1 || options.processes > kMostProcesses) {
    throw InvalidArgument(fmt::format("{} processes cannot be started: 1 to {} can",
                                      options.processes, kMostProcesses));
  }
  if (options.command.empty() || options.command.front().empty()) {
    throw InvalidArgument("no program to start: name it, and its arguments");
  }
  return Launch(options).run();
}

}  // namespace rankbox::launcher
