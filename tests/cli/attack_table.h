// The attacks of tests/attacks, with what each runs against and how it fails.
#pragma once

#include <string>
#include <vector>

#include "verdict/verdict.h"

namespace rankbox {

inline constexpr int kSeconds = 20;  // of the judge, where an attack reaches no limit

struct Attack {
  std::string name;
  FailureKind kind = FailureKind::kNotImplemented;  // kCompile, kMemory; else any but kCompile
  bool sealed_only = false;  // succeeds where ranks and judge are one process
  int seconds = kSeconds;
  std::string exercise = "broadcast_naive";
};

/// Returns all attacks.
std::vector<Attack> attacks();

}  // namespace rankbox
