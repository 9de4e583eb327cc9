#include "cli/support/mpirun.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/support/exec.h"
#include "comm/errors.h"

namespace rankbox::cli {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

// Read and written by the handler.
std::atomic<pid_t> child = 0;
std::atomic<int> received = 0;       // the first signal
std::atomic<bool> is_ended = false;  // a second one arrived

void pass_on(int signal) {
  int none = 0;
  const bool is_first = received.compare_exchange_strong(none, signal);
  if (!is_first) is_ended = true;
  // mpirun forwards SIGUSR1 to its ranks, and ends them all on SIGTERM.
  kill(child, is_first ? SIGUSR1 : SIGTERM);
}

/// Forwards the signals to `child` while it lives.
class SignalForwarder {
 public:
  SignalForwarder() {
    received = 0;
    is_ended = false;
    struct sigaction action = {};
    action.sa_handler = pass_on;
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &old_[i]);
  }
  SignalForwarder(const SignalForwarder&) = delete;
  SignalForwarder& operator=(const SignalForwarder&) = delete;
  ~SignalForwarder() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &old_[i], nullptr);
  }

 private:
  std::array<struct sigaction, kSignals.size()> old_ = {};
};

// Runs between fork and exec. Returns only on failure, with errno set.
void become(const std::vector<char*>& words, const sigset_t& signals, pid_t parent) {
  setpgid(0, 0);  // not reached by the terminal's signals
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);  // the parent has already exited
  for (int signal : kSignals) std::signal(signal, SIG_DFL);
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0) return;
  execvp(words.front(), words.data());
}

/// Starts it with the signals blocked: the handler must not run before `child` is set.
void start(const std::vector<std::string>& command) {
  const std::vector<char*> words = pointers_to(command);
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  for (int signal : kSignals) sigaddset(&blocked, signal);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  const pid_t parent = getpid();
  const pid_t started = fork();
  if (started == 0) {
    become(words, before, parent);
    fmt::print(stderr, "rankbox: cannot run {}: {}\n", command.front(), std::strerror(errno));
    _exit(127);
  }
  const int error = errno;
  child = started;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (started < 0)
    throw Error(fmt::format("cannot start {}: {}", command.front(), std::strerror(error)));
}

}  // namespace

std::vector<std::string> mpirun_command(int ranks, const std::vector<std::string>& command) {
  if (find_program("mpirun").empty()) {
    throw Error(
        "mpirun is not installed: apt-get install openmpi-bin libopenmpi-dev, or your system's "
        "packages of Open MPI");
  }
  std::vector<std::string> words = {"env", "OMPI_MCA_rmaps_base_oversubscribe=1"};
  if (geteuid() == 0) {
    words.insert(words.end(), {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"});
  }
  const char* quiet = "OMPI_MCA_orte_execute_quiet";  // a user's value stays
  if (std::getenv(quiet) == nullptr) words.push_back(std::string(quiet) + "=1");
  words.emplace_back("OMPI_MCA_opal_signal=");  // one line per crash, not Open MPI's backtrace
  words.insert(words.end(), {"mpirun", "-n", std::to_string(ranks)});
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

int run_attached(const std::vector<std::string>& words, const std::string& explained_by) {
  const SignalForwarder forwarder;
  start(words);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR)
      throw Error(fmt::format("cannot wait for {}: {}", words.front(), std::strerror(errno)));
  }
  const int code = exit_code_of(status);
  // SIGUSR1 ends ranks that do not handle it, as requested.
  if (is_ended || (received != 0 && code > 128)) return 128 + received;
  // The dead rank could not report it.
  if (code > 128 && code != 128 + SIGINT) {
    fmt::print(stderr, "rankbox: crash: a rank died of signal {} ({}){}\n", code - 128,
               strsignal(code - 128),
               explained_by.empty() ? "" : fmt::format("; {} says where", explained_by));
  }
  return code;
}

}  // namespace rankbox::cli
