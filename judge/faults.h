// Crashes, exits and throws in a learner's library: the handlers, and where it was.
//
// Neither exceptions nor signals carry their place. So the addresses of the callers in the library
// are found when one happens, and those of each rank's last throw are kept.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

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

/// The learner's libraries. Set them before ranks are started.
std::vector<LoadedLibrary>& learners_libraries();

/// Callers in one library, innermost first, in the form of addr2line: offsets into it.
struct Callers {
  int library = -1;  // its index; -1: no caller lies in a learner's library
  std::array<std::uintptr_t, 8> offsets = {};
  std::size_t count = 0;
};

/// Returns the callers of this function in the innermost of the learner's libraries. Allocates
/// nothing.
Callers find_callers();

inline constexpr int kAnyRank = -2;

/// Returns where this rank last threw an exception out of a learner's library. With kAnyRank: one
/// of the ranks that did. Throws are kept from handle_faults() on.
Callers callers_of_last_throw(int rank);

/// Installs the handlers: on_signal for the signals of crashes and for `more_signals`. Call once,
/// before any thread is started.
void handle_faults(void (*on_signal)(int signal), void (*on_exit)(int status, void* unused),
                   std::initializer_list<int> more_signals = {});

}  // namespace rankbox
