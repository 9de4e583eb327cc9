// How a process leaves a run: it tells all others what it was doing, and hears the same of them.
//
// Every process does this once a run, after its last message, and nobody goes on before all have
// come. So from then on no message is under way, memory may be freed, and everybody knows
// everybody's part in what went wrong.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "comm/errors.h"

namespace rankbox::mpi {

struct Farewell {
  enum class State : std::int32_t {
    kReturned,  // the rank's function did, or there is no rank on this process
    kFailed,    // it failed of its own, and has told all others (Run::stop)
    kStopped,   // because another one did
  };

  State state = State::kReturned;
  // The call it was blocked in. An empty op: none.
  std::array<char, 24> op{};
  std::array<char, 200> file{};
  std::int32_t line = 0;
  std::int32_t peer = -1;  // rank in the world
  std::int64_t bytes = 0;
  std::array<char, 200> words{};  // "rank 0 sends 3 float32 (12 bytes) to rank 1 at …"
  // The message that it waits for, or found not to fit: tells the two ends of a mismatch.
  std::int32_t group = -1;
  std::uint32_t number = 0;
  bool sends = false;
  bool mismatched = false;

  void set_wait(const Wait& wait, const std::string& in_words);
  /// Throws nothing; what does not fit is cut.
  Wait wait(int rank) const;
};

/// What everybody was doing: one line a rank, "  rank 1 waits in recv from rank 0 at …".
std::string in_words(const std::vector<Farewell>& farewells);

}  // namespace rankbox::mpi
