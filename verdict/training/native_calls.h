// The native collectives that a program should call: they determine its cost, and may be compared.
//
// Two programs with the same values may differ in their calls alone. Where a cost says "twice the
// bytes", the list of calls says which one is too many.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "comm/collective_kind.h"
#include "verdict/subject.h"

namespace rankbox {

/// A native collective to which every rank contributes so many elements.
struct NativeCall {
  CollectiveKind kind;
  std::int64_t elements = 0;
  bool operator==(const NativeCall&) const = default;
};
using NativeCalls = std::vector<NativeCall>;

/// One call for each of the sizes.
NativeCalls calls_of(CollectiveKind kind, const std::vector<std::int64_t>& sizes);

/// a, and then b.
NativeCalls operator+(NativeCalls a, const NativeCalls& b);
NativeCalls repeated(int times, const NativeCalls& calls);

/// What the sandbox charges for them on its default cluster, one after another.
Cost cost_of(const NativeCalls& calls, int world_size);

/// A subject that may call native collectives, and promises what these calls cost.
Subject subject_with_calls(std::function<std::vector<Case>()> cases,
                           const std::function<NativeCalls(const Case& example)>& calls,
                           std::vector<RunCheck> checks = {});

/// The check that ranks call just these, in this order.
RunCheck check_of_calls(std::function<NativeCalls(const Case& example)> calls);

}  // namespace rankbox
