// Calls of collectives: by an exercise's signature, or native.
#pragma once

#include <functional>
#include <string_view>

#include "cli/compare/plan/algorithms.h"

namespace rankbox::cli {

using Call = std::function<void(Comm& dist, Buffers& buffers, const CallSettings& settings)>;

/// The signature of a family of exercises (exercises/registry.toml).
struct Signature {
  std::string_view family;
  CollectiveKind collective;
  std::string_view prefix;  // of the exercises' names: "allreduce"
  Call (*bind)(void (*function)());
  bool needs_grid = false;
};

/// Returns null for a family that is no collective.
const Signature* signature_of(std::string_view family);

/// Returns the backend's native collective.
Call native_call(CollectiveKind collective);

}  // namespace rankbox::cli
