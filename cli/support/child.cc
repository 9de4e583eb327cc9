#include "cli/support/child.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/support/container.h"
#include "cli/support/exec.h"
#include "cli/support/threads_of.h"
#include "files/fd.h"

namespace rankbox::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostOutput = 64 * 1024;
constexpr std::size_t kMostReport = 16 * 1024 * 1024;
constexpr auto kTick = std::chrono::milliseconds(50);
constexpr auto kTimeToAnswer = std::chrono::milliseconds(500);
// SIGPIPE too: if a reader exits, this process ends in order.
constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

// Set by the handler, read by any thread.
std::atomic<int> interrupted_by = 0;
static_assert(std::atomic<int>::is_always_lock_free);
std::function<bool()> is_cancelled;  // of the current guard
std::array<struct sigaction, kSignals.size()> old_actions;

void on_interrupt(int signal) { interrupted_by = signal; }

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

struct Pipe {
  Fd read_end, write_end;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
    // Reading must never block: a grandchild may keep the other end open forever.
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
};

void limit(int resource, std::int64_t most) {
  const rlimit both = {static_cast<rlim_t>(most), static_cast<rlim_t>(most)};
  setrlimit(static_cast<__rlimit_resource_t>(resource), &both);
}

void set_limits(const ChildOptions& options) {
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, options.file_bytes);
  // If this process is killed, the limit on CPU time still ends the child.
  const auto cores = std::max(1L, sysconf(_SC_NPROCESSORS_ONLN));
  limit(RLIMIT_CPU, static_cast<std::int64_t>(std::ceil(options.seconds)) * cores + 2);
  if (options.memory_bytes == 0) return;
  // DATA counts what may be written to; allocators reserve address space far beyond that.
  limit(RLIMIT_DATA, options.memory_bytes);
  limit(RLIMIT_AS, options.memory_bytes + (std::int64_t{4} << 30));
}

// A judged program starts thousands of threads, up to 17 at a time. glibc keeps the stacks of ended
// threads for new ones, but only 40 MiB: five. Keeping all takes a third off a check's CPU time.
constexpr const char* kKeptStacks = "GLIBC_TUNABLES=glibc.pthread.stack_cache_size=268435456";

bool is_same_variable(std::string_view variable, std::string_view other) {
  const std::size_t name = other.find('=') + 1;
  return variable.substr(0, name) == other.substr(0, name);
}

/// Returns this process's variables, with the child's folder for temporary files; or a container's.
std::vector<std::string> environment_of(const ChildOptions& options) {
  std::vector<std::string> given;
  if (options.container != nullptr) {
    given = container_variables();
  } else {
    for (char** variable = environ; *variable != nullptr; ++variable) given.emplace_back(*variable);
    if (!options.temporary.empty()) {
      std::erase_if(given, [](const auto& each) { return is_same_variable(each, "TMPDIR="); });
      given.push_back("TMPDIR=" + options.temporary);
    }
  }
  const bool is_tuned = std::ranges::any_of(
      given, [](const auto& each) { return is_same_variable(each, kKeptStacks); });
  if (!is_tuned) given.emplace_back(kKeptStacks);
  return given;
}

/// Returns the command that starts the program.
ContainerCommand command_of(const ChildOptions& options) {
  if (options.container != nullptr) return in_container(*options.container, options.command);
  return {options.command, {}, Fd()};
}

// Runs between fork and exec. Returns only on failure, with errno set.
void become(const ChildOptions& options, const std::vector<char*>& arguments,
            const std::vector<char*>& environment, const std::vector<Fd>& inherited, int output,
            int report) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int signal : kSignals) std::signal(signal, SIG_DFL);
  std::signal(SIGPIPE, SIG_DFL);

  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  // The report's descriptor may already be one of 0 to 3; move both out of the way first.
  const int output_copy = fcntl(output, F_DUPFD_CLOEXEC, kReportFd + 1);
  const int report_copy = fcntl(report, F_DUPFD_CLOEXEC, kReportFd + 1);
  if (nothing < 0 || output_copy < 0 || report_copy < 0) return;
  if (dup2(nothing, STDIN_FILENO) < 0 || dup2(output_copy, STDOUT_FILENO) < 0) return;
  if (dup2(output_copy, STDERR_FILENO) < 0 || dup2(report_copy, kReportFd) < 0) return;
  // Libraries may open descriptors without O_CLOEXEC: no program gets our connections.
  close_range(kReportFd + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  for (const Fd& fd : inherited) fcntl(fd.get(), F_SETFD, 0);
  if (!options.directory.empty() && chdir(options.directory.c_str()) != 0) return;
  set_limits(options);
  execvpe(arguments.front(), arguments.data(), environment.data());
}

/// A running child. The destructor kills its whole process group and reaps it.
class Child {
 public:
  Child(const ChildOptions& options, const Pipe& output, const Pipe& report)
      : is_contained_(options.container != nullptr) {
    ContainerCommand command = command_of(options);
    const std::vector<std::string> variables = environment_of(options);
    const std::vector<char*> arguments = pointers_to(command.words);
    const std::vector<char*> environment = pointers_to(variables);

    Pipe error;  // closed by a successful exec; else carries errno
    pid_ = fork();
    if (pid_ < 0) fail("fork");
    if (pid_ == 0) {
      become(options, arguments, environment, command.inherited, output.write_end.get(),
             report.write_end.get());
      const int reason = errno;
      (void)!write(error.write_end.get(), &reason, sizeof(reason));
      _exit(127);
    }
    setpgid(pid_, pid_);  // the child does the same: the first call takes effect
    error.write_end.reset();
    info_ = std::move(command.info);
    fcntl(error.read_end.get(), F_SETFL, 0);
    int reason = 0;
    if (read(error.read_end.get(), &reason, sizeof(reason)) == sizeof(reason)) {
      kill_and_reap();
      errno = reason;
      fail("cannot run " + command.words.front());
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { kill_and_reap(); }

  /// Returns the program itself: in a container, the first child of the first process there.
  pid_t program() {
    if (!is_contained_) return pid_;
    const std::vector<pid_t> children = children_of(first_in_container());
    return children.empty() ? pid_ : children.front();
  }
  /// Sets the time that the child has to end after SIGTERM, before it is killed.
  void set_grace(double seconds) { grace_seconds_ = seconds; }

  /// Returns whether it has ended by itself.
  bool has_ended() {
    if (!reaped_) reaped_ = waitpid(pid_, &status_, WNOHANG) == pid_;
    return reaped_;
  }

  /// Sends SIGTERM, and waits until it has ended or the time is up.
  void terminate(double grace_seconds) {
    if (grace_seconds <= 0 || has_ended()) return;
    kill(pid_, SIGTERM);
    wait_for(grace_seconds);
  }

  /// Kills the first process of its container, and with it all others. Waits until they have ended.
  void end_container() {
    const pid_t first = is_contained_ ? first_in_container() : -1;
    if (first < 0) return;
    if (!has_ended()) kill(first, SIGKILL);
    const Fd ending(static_cast<int>(syscall(SYS_pidfd_open, first, 0)));
    pollfd waiting = {ending.get(), POLLIN, 0};
    if (ending.is_open()) poll(&waiting, 1, kSecondsToEnd * 1000);
    wait_for(kSecondsToEnd);
  }

  pid_t first_in_container() {
    if (first_ < 0) first_ = first_process_of(info_);
    return first_;
  }

  void wait_for(double seconds) {
    const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
    while (!has_ended() && Clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  /// Kills the rest of its group. Returns the status of the child itself.
  int kill_and_reap() {
    terminate(grace_seconds_);
    if (!is_over_) end_container();
    is_over_ = true;
    kill(-pid_, SIGKILL);
    if (!reaped_) {
      kill(pid_, SIGKILL);
      while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
      }
      reaped_ = true;
    }
    return is_contained_ ? status_in_container() : status_;
  }

 private:
  static constexpr int kSecondsToEnd = 1;

  /// The program's status: bwrap ends with 128 plus its signal, as a shell does.
  int status_in_container() const {
    const int code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 0;
    return code > 128 && code < 128 + NSIG ? code - 128 : status_;
  }

  const bool is_contained_;
  Fd info_;
  pid_t first_ = -1;
  pid_t pid_ = -1;
  int status_ = 0;
  bool reaped_ = false;   // true: status_ is final
  bool is_over_ = false;  // true: its container has ended
  double grace_seconds_ = 0;
};

/// Reads what is available, as much as a pipe holds, and passes it on. Closes the pipe at end of
/// file.
void drain(Fd& from, const std::function<void(std::string_view)>& take) {
  constexpr int kMostReads = 16;
  std::array<char, 16384> buffer;
  for (int i = 0; from.is_open() && i < kMostReads; ++i) {
    const ssize_t got = read(from.get(), buffer.data(), buffer.size());
    if (got > 0) {
      take({buffer.data(), static_cast<std::size_t>(got)});
    } else if (got == 0) {
      from.reset();
    } else if (errno != EINTR) {
      return;
    }
  }
}

Clock::duration in_ticks(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// Returns how many seconds a program may run beyond its time limit: more than 0 if it is computing
/// and has had less processor time than `limit`.
double seconds_still_due(pid_t program, double limit, Clock::time_point started) {
  const CpuUse use = cpu_use_of(program);
  if (!use.is_running) return 0;
  const std::chrono::duration<double> taken = Clock::now() - started;
  return std::min(limit - use.seconds, kMostPatience * limit - taken.count());
}

void throw_if_interrupted() {
  InterruptGuard::check();
  if (is_cancelled && is_cancelled()) throw Interrupted(0);
}

}  // namespace

InterruptGuard::InterruptGuard(std::function<bool()> cancelled) {
  is_cancelled = std::move(cancelled);
  interrupted_by = 0;
  struct sigaction action = {};
  action.sa_handler = on_interrupt;  // no SA_RESTART: poll must return
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], &action, &old_actions[i]);
  }
}

void InterruptGuard::check() {
  if (interrupted_by != 0) throw Interrupted(interrupted_by);
}

InterruptGuard::~InterruptGuard() {
  is_cancelled = nullptr;
  interrupted_by = 0;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], &old_actions[i], nullptr);
  }
}

ChildResult run_child(const ChildOptions& options) {
  throw_if_interrupted();
  ChildResult result;
  Pipe output, report;
  Child child(options, output, report);
  child.set_grace(options.grace_seconds);
  output.write_end.reset();
  report.write_end.reset();

  Clock::time_point deadline;
  const auto drain_both = [&] {
    drain(output.read_end, [&](std::string_view text) {
      result.output += text.substr(0, kMostOutput - result.output.size());
      result.output_bytes += std::ssize(text);
      if (!options.on_output) return;
      const auto before = Clock::now();
      options.on_output(text);
      deadline += Clock::now() - before;  // the program may have waited for its reader
    });
    drain(report.read_end, [&](std::string_view text) {
      result.report += text.substr(0, kMostReport - result.report.size());
    });
  };
  const bool has_tree_limits = options.tree_bytes > 0 || options.tree_threads > 0;
  const auto started = Clock::now();
  auto next_look = has_tree_limits ? started + kTick : Clock::time_point::max();
  deadline = started + in_ticks(options.seconds);
  while (true) {
    // Checked before draining, so that no output is missed.
    const bool ended = child.has_ended();
    drain_both();
    throw_if_interrupted();
    if (ended) break;

    if (Clock::now() >= next_look) {
      next_look = Clock::now() + kTick;
      const ProcessTree tree = tree_of(child.program());
      result.too_large = options.tree_bytes > 0 && tree.private_bytes > options.tree_bytes;
      result.too_many = options.tree_threads > 0 && tree.threads > options.tree_threads;
      if (result.too_large || result.too_many) break;
    }
    bool is_over = Clock::now() >= deadline;
    if (is_over && !result.timed_out) {
      const double due = seconds_still_due(child.program(), options.seconds, started);
      // Shorter ones are within the accuracy of processor times.
      is_over = due < 0.1;
      if (!is_over) deadline = Clock::now() + in_ticks(due);
    }
    const bool is_late = is_over;
    is_over = is_over || (!result.timed_out && options.keep_running && !options.keep_running());
    if (is_over) {
      const bool was_asked = std::exchange(result.timed_out, true);
      if (!was_asked && is_late)
        result.seconds = std::chrono::duration<double>(Clock::now() - started).count();
      if (was_asked || !options.ask_where) break;
      result.was_computing = poke_threads_below(child.program(), SIGUSR1);
      deadline = Clock::now() + kTimeToAnswer;
    }

    std::array<pollfd, 2> waiting = {{{output.read_end.get(), POLLIN, 0},  //
                                      {report.read_end.get(), POLLIN, 0}}};
    if (output.read_end.is_open() || report.read_end.is_open()) {
      poll(waiting.data(), waiting.size(), static_cast<int>(kTick.count()));
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // it is about to end
    }
  }

  result.status = child.kill_and_reap();
  drain_both();
  throw_if_interrupted();
  return result;
}

std::string last_line(const std::string& output) {
  const std::size_t end = output.find_last_not_of("\n ");
  if (end == std::string::npos) return "it printed nothing";
  const std::size_t before = output.rfind('\n', end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return output.substr(begin, end + 1 - begin);
}

}  // namespace rankbox::cli
