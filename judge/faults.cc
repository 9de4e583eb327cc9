#include "judge/faults.h"

#include <csignal>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>

#include "comm/memory_meter.h"

namespace rankbox {
namespace {

// A handler needs about 10 KiB, most of it to unwind the stack.
constexpr std::size_t kStackBytes = 64 * 1024;

class SignalStack {
 public:
  SignalStack() : memory_(std::make_unique_for_overwrite<char[]>(kStackBytes)) {
    stack_t stack = {};
    stack.ss_sp = memory_.get();
    stack.ss_size = kStackBytes;
    sigaltstack(&stack, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  ~SignalStack() {
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }

 private:
  std::unique_ptr<char[]> memory_;
};

bool keeps_throws = false;

std::mutex throws_mutex;
std::map<int, Callers>& throws() {
  static std::map<int, Callers> by_rank;
  return by_rank;
}

/// Returns whether a throw of this rank is kept. Most throws of a large world are Aborted, which
/// has its place: walking 65,536 stacks took a third of a proof of deadlock.
bool is_kept(int rank) {
  constexpr std::size_t kMostRanks = 1024;
  const std::lock_guard lock(throws_mutex);
  return throws().size() < kMostRanks || throws().contains(rank);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_NODEFER | SA_ONSTACK;
  sigaction(signal, &action, nullptr);
}

}  // namespace

void use_signal_stack() { thread_local const SignalStack stack; }

LoadedLibrary library_at(const void* address) {
  Dl_info info = {};
  if (dladdr(address, &info) == 0) return {};
  LoadedLibrary library{reinterpret_cast<std::uintptr_t>(info.dli_fbase), 0};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* result) {
        auto& found = *static_cast<LoadedLibrary*>(result);
        if (object->dlpi_addr != found.begin) return 0;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = object->dlpi_phdr[i];
          const std::uintptr_t end = object->dlpi_addr + segment.p_vaddr + segment.p_memsz;
          if (segment.p_type == PT_LOAD && end > found.end) found.end = end;
        }
        return 1;
      },
      &library);
  return library;
}

std::vector<LoadedLibrary>& learners_libraries() {
  // Never destroyed: a thread may crash while the process exits.
  static auto& libraries = *new std::vector<LoadedLibrary>;
  return libraries;
}

Callers find_callers() {
  const std::vector<LoadedLibrary>& libraries = learners_libraries();
  std::array<void*, 64> frames;
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  Callers found;
  for (int i = 0; i < count && found.count < found.offsets.size(); ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(frames[static_cast<std::size_t>(i)]);
    for (std::size_t l = 0; l < libraries.size(); ++l) {
      if (address < libraries[l].begin || address >= libraries[l].end) continue;
      if (found.library < 0) found.library = static_cast<int>(l);
      // A return address is that of the next instruction, which may belong to the next line.
      if (found.library == static_cast<int>(l))
        found.offsets[found.count++] = address - libraries[l].begin - 1;
      break;
    }
  }
  return found;
}

Callers callers_of_last_throw(int rank) {
  const std::lock_guard lock(throws_mutex);
  const auto entry = rank == kAnyRank ? throws().begin() : throws().find(rank);
  return entry == throws().end() ? Callers() : entry->second;
}

void handle_faults(void (*on_signal)(int signal), void (*on_exit_called)(int status, void* unused),
                   std::initializer_list<int> more_signals) {
  // The first calls allocate and load a library, which a signal handler must not do.
  learners_libraries();
  std::array<void*, 1> frame;
  backtrace(frame.data(), 1);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) handle(signal, on_signal);
  for (const int signal : more_signals) handle(signal, on_signal);
  on_exit(on_exit_called, nullptr);
  keeps_throws = true;
}

/// Called by __cxa_throw below.
void keep_throw() {
  if (!keeps_throws || learners_libraries().empty()) return;
  const int rank = rank_of_this_thread();
  if (!is_kept(rank)) return;
  const Callers callers = find_callers();
  if (callers.library < 0) return;
  const std::lock_guard lock(throws_mutex);
  throws()[rank] = callers;
}

}  // namespace rankbox

// Intercepts every throw in the process: an exception does not record its origin, and a learner
// needs the line, for example of a vector indexed out of range.
extern "C" {
// NOLINTNEXTLINE(bugprone-reserved-identifier, readability-identifier-naming): its name is given
[[noreturn]] __attribute__((visibility("default"))) void __cxa_throw(void* exception, void* type,
                                                                     void (*destroy)(void*)) {
  rankbox::keep_throw();
  using Throw = void (*)(void*, void*, void (*)(void*));
  static const auto runtime_throw = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
  runtime_throw(exception, type, destroy);
  std::abort();  // not reached
}
}
