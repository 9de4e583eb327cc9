#include "launch/group_guard.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm/errors.h"

namespace rankbox::launcher {

namespace {

std::array<pid_t, 4096> groups;  // of the guard's own process, which must not allocate

[[noreturn]] void be_guard(int line) {
  // Out of reach of Ctrl-C: it has to outlive us.
  setsid();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  auto* end = groups.begin();
  pid_t word = 0;
  while (read(line, &word, sizeof(word)) == sizeof(word)) {
    if (word < 0) {
      end = std::remove(groups.begin(), end, -word);
    } else if (end != groups.end()) {
      *end++ = word;
    }
  }
  for (const auto* group = groups.begin(); group != end; ++group) kill(-*group, SIGKILL);
  _exit(0);
}

}  // namespace

GroupGuard::GroupGuard() {
  int ends[2];
  // No pipe: writing to one that nobody reads any more would end us.
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Error(fmt::format("cannot make a pair of sockets: {}", std::strerror(errno)));
  }
  const Fd theirs(ends[0]);
  line_.reset(ends[1]);
  pid_ = fork();
  if (pid_ < 0) throw Error(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (pid_ == 0) {
    line_.reset();
    be_guard(theirs.get());
  }
}

GroupGuard::~GroupGuard() {
  line_.reset();
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void GroupGuard::tell(pid_t word) {
  // It has died only if somebody killed it; then there is nobody to tell.
  while (send(line_.get(), &word, sizeof(word), MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

}  // namespace rankbox::launcher
