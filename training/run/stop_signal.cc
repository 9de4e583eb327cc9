#include "training/run/stop_signal.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <unistd.h>

namespace rankbox::train {
namespace {

// SIGPIPE: nothing reads the output any more, as after `| head`.
constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE};

// Set by the handler, read by any thread.
std::atomic<int> received_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);
const char* what_to_say = "";
std::array<struct sigaction, kSignals.size()> old_actions;

void on_signal(int signal) {
  const int kept = errno;
  received_signal = signal;
  if (signal != SIGPIPE) (void)!write(STDERR_FILENO, what_to_say, std::strlen(what_to_say));
  errno = kept;
}

}  // namespace

StopSignal::StopSignal(const char* notice) {
  received_signal = 0;
  what_to_say = notice;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    // Lines that are printed until the step ends must not end the process.
    action.sa_flags = SA_RESTART | (kSignals[i] == SIGPIPE ? 0 : static_cast<int>(SA_RESETHAND));
    sigaction(kSignals[i], &action, &old_actions[i]);
  }
}

StopSignal::~StopSignal() {
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    sigaction(kSignals[i], &old_actions[i], nullptr);
}

int StopSignal::received() { return received_signal; }

}  // namespace rankbox::train
