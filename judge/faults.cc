#include "judge/faults.h"

#include <csignal>
#include <cstdlib>
#include <memory>

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>

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

void (*on_throw)() = nullptr;

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

Callers find_callers(std::span<const LoadedLibrary> libraries) {
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

void handle_faults(const FaultHandlers& handlers, std::initializer_list<int> more_signals) {
  // The first backtrace loads a library, which a signal handler must not do.
  std::array<void*, 1> frame;
  backtrace(frame.data(), 1);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    handle(signal, handlers.on_signal);
  for (const int signal : more_signals) handle(signal, handlers.on_signal);
  on_exit(handlers.on_exit, nullptr);
  on_throw = handlers.on_throw;
}

/// Called by __cxa_throw below.
void report_throw() {
  if (on_throw != nullptr) on_throw();
}

}  // namespace rankbox

// Intercepts every throw in the process: an exception does not record its origin, and a learner
// needs the line, for example of a vector indexed out of range.
extern "C" {
// NOLINTNEXTLINE(bugprone-reserved-identifier, readability-identifier-naming): its name is given
[[noreturn]] __attribute__((visibility("default"))) void __cxa_throw(void* exception, void* type,
                                                                     void (*destroy)(void*)) {
  rankbox::report_throw();
  using Throw = void (*)(void*, void*, void (*)(void*));
  static const auto runtime_throw = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
  runtime_throw(exception, type, destroy);
  std::abort();  // not reached
}
}
