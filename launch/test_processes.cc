#include "launch/test_processes.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm/errors.h"
#include "launch/deadline.h"
#include "launch/fd.h"

namespace rankbox::launcher {

namespace {

constexpr double kMostSeconds = 60;

std::string run(const std::function<std::string(int)>& body, int index) {
  try {
    return body(index);
  } catch (const Aborted& error) {
    return std::string("Aborted: ") + error.what();
  } catch (const InvalidArgument& error) {
    return std::string("InvalidArgument: ") + error.what();
  } catch (const Error& error) {
    return std::string("Error: ") + error.what();
  } catch (const std::exception& error) {
    return std::string("exception: ") + error.what();
  }
}

[[noreturn]] void be_child(const std::function<std::string(int)>& body, int index, int report) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto started = Deadline::Clock::now();
  std::string text = run(body, index);
  const std::chrono::duration<double> seconds = Deadline::Clock::now() - started;
  text = std::to_string(seconds.count()) + " " + text;
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t more = write(report, text.data() + sent, text.size() - sent);
    if (more < 0) _exit(1);
    sent += static_cast<std::size_t>(more);
  }
  _exit(0);
}

/// All that comes until the other end closes, or the deadline.
std::string read_all(int fd, const Deadline& deadline) {
  std::string text;
  std::array<char, 4096> buffer;
  pollfd waiting = {fd, POLLIN, 0};
  while (poll(&waiting, 1, deadline.milliseconds_left()) > 0) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace

std::vector<Outcome> run_processes(
    int processes, const std::function<std::string(int)>& body,
    const std::function<void(const std::vector<pid_t>&)>& meanwhile) {
  const Deadline deadline = Deadline::after(kMostSeconds);
  std::vector<pid_t> pids;
  std::vector<Fd> reports;
  for (int i = 0; i < processes; ++i) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    Fd write_end(ends[1]);
    reports.emplace_back(ends[0]);
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("fork");
    if (pid == 0) be_child(body, i, write_end.get());
    pids.push_back(pid);
  }
  if (meanwhile) meanwhile(pids);

  std::vector<Outcome> outcomes;
  for (int i = 0; i < processes; ++i) {
    const std::string report = read_all(reports[static_cast<std::size_t>(i)].get(), deadline);
    const pid_t pid = pids[static_cast<std::size_t>(i)];
    if (deadline.passed()) kill(pid, SIGKILL);
    Outcome outcome;
    while (waitpid(pid, &outcome.status, 0) < 0 && errno == EINTR) {
    }
    const std::size_t space = report.find(' ');
    if (space != std::string::npos) {
      outcome.seconds = std::stod(report.substr(0, space));
      outcome.text = report.substr(space + 1);
    }
    outcomes.push_back(outcome);
  }
  return outcomes;
}

bool is_dead(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string stat;
  if (!std::getline(file, stat)) return true;
  const std::size_t after_name = stat.rfind(')');
  if (after_name == std::string::npos || after_name + 2 >= stat.size()) return true;
  const char state = stat[after_name + 2];
  return state == 'Z' || state == 'X';
}

bool comes_true(const std::function<bool()>& condition, double seconds) {
  const Deadline deadline = Deadline::after(seconds);
  while (!condition()) {
    if (deadline.passed()) return false;
    sleep_for(0.01);
  }
  return true;
}

void sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

}  // namespace rankbox::launcher
