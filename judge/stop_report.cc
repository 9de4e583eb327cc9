#include "judge/stop_report.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <sstream>

#include <dlfcn.h>
#include <fmt/format.h>

#include "comm/memory_meter.h"
#include "judge/faults.h"

namespace rankbox {

namespace {

void (*write_line)(std::string_view line) = nullptr;
std::atomic<bool> done{false};

// Safe in a signal handler: no allocation, no locks.
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

 private:
  std::array<char, 512> buffer_;
  std::size_t size_ = 0;
};

void add(Line& line, const Callers& callers) {
  for (std::size_t i = 0; i < callers.count; ++i) {
    line.add(" ");
    line.add(callers.offsets[i], 16);
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
  add(line, find_callers());
  line.add("\n");
  write_line(line.text());
}

void on_signal(int signal) {
  report(signal == SIGUSR1 ? "asked" : "signal", signal);
  if (signal == SIGUSR1) return;
  // Ends the process by the same signal, so that the parent sees it.
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void on_exit_called(int status, void* /*unused*/) {
  if (!done) report("exit", status);
}

}  // namespace

void report_stops(void (*write)(std::string_view line)) {
  write_line = write;
  handle_faults(on_signal, on_exit_called, {SIGUSR1});
}

void set_library(const void* address) { learners_libraries() = {library_at(address)}; }

std::string last_throw_of(int rank) {
  Line line;
  add(line, callers_of_last_throw(rank));
  return std::string(line.text().substr(line.text().empty() ? 0 : 1));
}

std::string offset_of(const void* code) {
  Dl_info info = {};
  if (code == nullptr || dladdr(code, &info) == 0) return "";
  // The call itself, not what follows it.
  return fmt::format("{:x}", reinterpret_cast<std::uintptr_t>(code) -
                                 reinterpret_cast<std::uintptr_t>(info.dli_fbase) - 1);
}

void done_reporting() { done = true; }

std::string hexadecimal_words(std::string_view text) {
  constexpr int kMostWords = 16;
  constexpr std::size_t kMostDigits = 16;
  std::istringstream words{std::string(text)};
  std::string numbers;
  std::string word;
  for (int i = 0; i < kMostWords && words >> word; ++i) {
    const bool is_number = word.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!is_number || word.size() > kMostDigits) break;
    numbers += (numbers.empty() ? "" : " ") + word;
  }
  return numbers;
}

std::optional<Stop> parse_stop(std::string_view text) {
  constexpr std::size_t kMostBytes = 512;  // class Line
  constexpr int kMostRanks = 1 << 24;
  constexpr std::array<std::string_view, 4> kHows = {"signal", "exit", "asked", "throw"};
  std::istringstream fields{std::string(text.substr(0, kMostBytes))};
  Stop stop;
  std::string stopped;
  std::string rank;
  std::string at;
  std::string addresses;
  fields >> stopped >> stop.how >> stop.number >> rank >> stop.rank >> at;
  const bool is_known = std::ranges::count(kHows, stop.how) > 0;
  if (!fields || stopped != "stopped" || !is_known || rank != "rank" || at != "at")
    return std::nullopt;
  std::getline(fields, addresses);
  stop.rank = std::clamp(stop.rank, -1, kMostRanks);
  stop.addresses = hexadecimal_words(addresses);
  return stop;
}

std::string signal_in_words(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "segmentation fault: a null or dangling pointer, an index out of range, or endless "
             "recursion?";
    case SIGABRT:
      return "aborted: an exception left a thread, an assertion failed, or memory was overwritten?";
    case SIGFPE:
      return "division by zero, or another arithmetic error";
    case SIGXFSZ:
      return "it wrote too large a file";
    default:
      return fmt::format("ended by signal {} ({})", signal, strsignal(signal));
  }
}

std::string in_words(const Stop& stop) {
  if (stop.how == "signal") return signal_in_words(stop.number);
  return fmt::format("it called exit({}) instead of returning", stop.number);
}

}  // namespace rankbox
