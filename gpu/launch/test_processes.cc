#include "gpu/launch/test_processes.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm/errors.h"

namespace rankbox::launcher {

namespace {

constexpr double kMaxSeconds = 300;

[[noreturn]] void be_child(const std::function<std::string(int)>& body, int index, int report) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string text;
  try {
    text = body(index);
  } catch (...) {
    text = in_words(std::current_exception());
  }
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t more = write(report, text.data() + sent, text.size() - sent);
    if (more < 0) _exit(1);
    sent += static_cast<std::size_t>(more);
  }
  _exit(0);
}

/// Returns all bytes that arrive until the other end closes, or until the deadline.
std::string read_all(int fd, Deadline deadline) {
  std::string text;
  std::array<char, 4096> buffer;
  pollfd waiting = {fd, POLLIN, 0};
  while (poll(&waiting, 1, milliseconds_until(deadline)) > 0) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace

std::string in_words(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const RankFailed& known) {
    return fmt::format("RankFailed of rank {}: {}", known.rank(), known.what());
  } catch (const InvalidArgument& known) {
    return fmt::format("InvalidArgument of rank {}: {}", known.rank(), known.what());
  } catch (const Error& known) {
    return fmt::format("Error of rank {}: {}", known.rank(), known.what());
  } catch (const std::exception& other) {
    return fmt::format("exception: {}", other.what());
  }
}

std::vector<Outcome> run_processes(
    int processes, const std::function<std::string(int)>& body,
    const std::function<void(const std::vector<pid_t>&)>& meanwhile) {
  const Deadline deadline = deadline_after(kMaxSeconds);
  std::vector<pid_t> pids;
  std::vector<Fd> reports;
  for (int i = 0; i < processes; ++i) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    const Fd write_end(ends[1]);
    reports.emplace_back(ends[0]);
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("fork");
    if (pid == 0) be_child(body, i, write_end.get());
    pids.push_back(pid);
  }
  if (meanwhile) meanwhile(pids);

  std::vector<Outcome> outcomes;
  for (std::size_t i = 0; i < pids.size(); ++i) {
    Outcome outcome;
    outcome.text = read_all(reports[i].get(), deadline);
    if (std::chrono::steady_clock::now() >= deadline) kill(pids[i], SIGKILL);
    while (waitpid(pids[i], &outcome.status, 0) < 0 && errno == EINTR) {
    }
    outcomes.push_back(outcome);
  }
  return outcomes;
}

void SharedFlag::wait() const {
  comes_true([this] { return static_cast<Flag*>(memory_)->load(); });
}

bool comes_true(const std::function<bool()>& condition) {
  const Deadline deadline = deadline_after(kMaxSeconds / 2);
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

ReservedPort::ReservedPort() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const int yes = 1;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
      bind(socket_.get(), any, size) != 0 || getsockname(socket_.get(), any, &size) != 0) {
    throw std::runtime_error("no free port");
  }
  number_ = ntohs(address.sin_port);
}

}  // namespace rankbox::launcher
