// Helpers of handlers for crashes, exits and throws.
//
// They provide a signal stack, and the callers in a learner's library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace rankbox {

/// Gives this thread a second stack for signal handlers, for its lifetime: an endless recursion
/// uses up the first. Call on every rank's thread; further calls do nothing.
void use_signal_stack();

/// The address range of a loaded library.
struct LoadedLibrary {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;  // 0: there is none
};

/// Returns the library that holds this address.
LoadedLibrary library_at(const void* address);

/// Callers in one library, innermost first, in the form of addr2line: offsets into it.
struct Callers {
  int library = -1;  // its index; -1: no caller lies in any
  std::array<std::uintptr_t, 8> offsets = {};
  std::size_t count = 0;
};

/// Returns the callers of this function in the innermost of these libraries. Allocates nothing.
Callers find_callers(std::span<const LoadedLibrary> libraries);

struct FaultHandlers {
  void (*on_signal)(int signal);
  void (*on_exit)(int status, void* unused);
  void (*on_throw)();  // any exception in this process is about to be thrown
};

/// Installs the handlers: on_signal for the signals of crashes and for `more_signals`. Call once,
/// before any thread is started.
void handle_faults(const FaultHandlers& handlers, std::initializer_list<int> more_signals = {});

}  // namespace rankbox
