#include "cli/plugin/stop_report.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include "cli/plugin/signal_stack.h"
#include "cli/support/child.h"

namespace rankbox::cli {

namespace {

std::atomic<std::uintptr_t> library_begin{0};
std::atomic<std::uintptr_t> library_end{0};
std::atomic<bool> done{false};

// No allocation, no locks: this runs where the program has just broken.
class Line {
 public:
  void add(std::string_view text) {
    for (char c : text) {
      if (size_ < buffer_.size()) buffer_[size_++] = c;
    }
  }
  void add(std::uintptr_t value, unsigned base) {
    std::array<char, 24> digits;
    std::size_t used = digits.size();
    do {
      digits[--used] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    add(std::string_view(digits.data() + used, digits.size() - used));
  }
  std::string_view text() const { return {buffer_.data(), size_}; }
  void send() const { (void)!write(kReportFd, buffer_.data(), size_); }

 private:
  std::array<char, 512> buffer_;
  std::size_t size_ = 0;
};

bool in_library(std::uintptr_t address) {
  return address >= library_begin && address < library_end;
}

// The callers of this function that lie in the learner's library, innermost first.
void add_addresses(Line& line) {
  std::array<void*, 64> frames;
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  int added = 0;
  for (int i = 0; i < count && added < 8; ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(frames[static_cast<std::size_t>(i)]);
    if (!in_library(address)) continue;
    ++added;
    // A return address is that of the next instruction, perhaps of the next line.
    line.add(" ");
    line.add(address - library_begin - 1, 16);
  }
}

void report(std::string_view how, int number) {
  Line line;
  line.add("stopped ");
  line.add(how);
  line.add(" ");
  line.add(static_cast<std::uintptr_t>(number), 10);
  line.add(" rank ");
  const int rank = rank_of_this_thread();
  if (rank < 0) line.add("-");
  line.add(static_cast<std::uintptr_t>(rank < 0 ? -rank : rank), 10);
  line.add(" at");
  add_addresses(line);
  line.add("\n");
  line.send();
}

void on_signal(int signal) {
  report(signal == SIGUSR1 ? "asked" : "signal", signal);
  if (signal == SIGUSR1) return;
  // Die of it after all, so that our parent sees which signal it was.
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void on_exit_called(int status, void* /*unused*/) {
  if (!done) report("exit", status);
}

// ---- Exceptions ----

std::mutex throws_mutex;
std::map<int, std::string>& throws() {
  static std::map<int, std::string> by_rank;
  return by_rank;
}

}  // namespace

void report_stops() {
  // The first backtrace loads a library, which a signal handler had better not do.
  std::array<void*, 1> frame;
  backtrace(frame.data(), 1);

  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_NODEFER | SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGUSR1}) {
    sigaction(signal, &action, nullptr);
  }
  on_exit(on_exit_called, nullptr);
}

void use_signal_stack() { thread_local const SignalStack stack; }

void set_library(const void* address) {
  Dl_info info = {};
  if (dladdr(address, &info) == 0) return;
  const auto base = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  library_begin = base;
  library_end = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void*) {
        if (object->dlpi_addr != library_begin) return 0;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = object->dlpi_phdr[i];
          const std::uintptr_t end = object->dlpi_addr + segment.p_vaddr + segment.p_memsz;
          if (segment.p_type == PT_LOAD && end > library_end) library_end = end;
        }
        return 1;
      },
      nullptr);
}

std::string last_throw_of(int rank) {
  const std::lock_guard lock(throws_mutex);
  const auto found = throws().find(rank);
  return found == throws().end() ? "" : found->second;
}

void done_reporting() { done = true; }

/// Called by __cxa_throw below.
void remember_throw() {
  if (library_begin == 0) return;
  Line line;
  add_addresses(line);
  if (line.text().empty()) return;
  const std::lock_guard lock(throws_mutex);
  throws()[rank_of_this_thread()] = std::string(line.text().substr(1));
}

}  // namespace rankbox::cli

// Every throw in the process passes here on its way to the C++ runtime: an exception does not know
// its own origin, and a learner wants to know the line of the vector that was indexed out of range.
extern "C" {
// NOLINTNEXTLINE(bugprone-reserved-identifier, readability-identifier-naming): its name is given
[[noreturn]] __attribute__((visibility("default"))) void __cxa_throw(void* exception, void* type,
                                                                     void (*destroy)(void*)) {
  rankbox::cli::remember_throw();
  using Throw = void (*)(void*, void*, void (*)(void*));
  static const auto runtime_throw = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
  runtime_throw(exception, type, destroy);
  std::abort();  // not reached
}
}
