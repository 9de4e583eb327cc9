// What handlers of crashes, exits and throws need: a stack of their own, the rank that they
// interrupt, and which callers lie in a learner's library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace rankbox::cli {

/// Gives this thread a second stack for signal handlers, for as long as it lives: an endless
/// recursion uses up the first. Call on every rank's thread; further calls do nothing.
void use_signal_stack();

/// The rank that this thread runs; -1: none. Safe in a signal handler.
int rank_of_this_thread();

/// The address range of a loaded library.
struct LoadedLibrary {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;  // 0: there is none
};

/// The library that holds this address.
LoadedLibrary library_at(const void* address);

/// Callers that lie in one library, innermost first, as addr2line wants them: offsets into it.
struct Callers {
  int library = -1;  // its index; -1: no caller lies in any
  std::array<std::uintptr_t, 8> offsets = {};
  std::size_t count = 0;
};

/// The callers of this function that lie in the innermost of these libraries. Allocates nothing.
Callers find_callers(std::span<const LoadedLibrary> libraries);

struct FaultHandlers {
  void (*on_signal)(int signal);
  void (*on_exit)(int status, void* unused);
  void (*on_throw)();  // any exception in this process is about to be thrown
};

/// Installs the handlers: on_signal for the signals of broken programs and for `more_signals`.
/// Call once, before any thread is started.
void handle_faults(const FaultHandlers& handlers, std::initializer_list<int> more_signals = {});

}  // namespace rankbox::cli
