#include "launch/rank_process.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm/errors.h"
#include "launch/fd.h"

namespace rankbox::launcher {

namespace {

[[noreturn]] void fail(const std::string& program, int reason) {
  throw Error(fmt::format("cannot start {}: {}", program, std::strerror(reason)),
              {-1, "launch", -1, "", 0});
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

/// Between fork and exec: nothing here may allocate. Returns only if it fails, with errno set.
void become(const std::vector<char*>& command, const std::vector<char*>& environment,
            const sigset_t& mask, pid_t parent, int nothing) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(128 + SIGKILL);  // it had died before we asked
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  if (dup2(nothing, STDIN_FILENO) < 0) return;
  execvpe(command.front(), command.data(), environment.data());
}

}  // namespace

RankProcess::RankProcess(const std::vector<std::string>& command,
                         const std::vector<std::string>& environment, const sigset_t& mask) {
  const std::vector<char*> arguments = pointers(command), variables = pointers(environment);
  const Fd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  int ends[2];
  if (!nothing.is_open() || pipe2(ends, O_CLOEXEC) != 0) fail(command.front(), errno);
  // Closed by a successful exec; else brings its errno.
  Fd report(ends[0]), reporter(ends[1]);

  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) fail(command.front(), errno);
  if (pid_ == 0) {
    become(arguments, variables, mask, parent, nothing.get());
    const int reason = errno;
    (void)!write(reporter.get(), &reason, sizeof(reason));
    _exit(127);
  }
  running_ = true;
  setpgid(pid_, pid_);  // as the process itself does: whoever comes first
  reporter.reset();
  int reason = 0;
  ssize_t got = 0;
  do {
    got = read(report.get(), &reason, sizeof(reason));
  } while (got < 0 && errno == EINTR);
  if (got == sizeof(reason)) {
    end();
    fail(command.front(), reason);
  }
}

RankProcess::RankProcess(RankProcess&& other) noexcept
    : pid_(other.pid_), running_(std::exchange(other.running_, false)), status_(other.status_) {}

void RankProcess::send(int signal) const {
  if (running_) kill(-pid_, signal);
}

bool RankProcess::has_ended() {
  if (!running_) return false;
  // Looked at first and reaped later: meanwhile its number, which is its group's, is nobody else's.
  siginfo_t info = {};
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      info.si_pid == 0) {
    return false;
  }
  end();
  return true;
}

void RankProcess::end() {
  if (!running_) return;
  running_ = false;
  kill(-pid_, SIGKILL);
  while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace rankbox::launcher
