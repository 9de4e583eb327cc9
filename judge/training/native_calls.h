// The native collectives that a program should call: they determine its cost.
//
// Two programs with the same values may differ only in their calls. Where a cost says "twice the
// bytes", the list of calls identifies the superfluous one.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "comm/collective_kind.h"
#include "judge/subject.h"

namespace rankbox {

/// A native collective to which a rank contributes this many elements. Of an all_to_all_v they are
/// those that it sends to others, or receives from them if that is more.
struct NativeCall {
  CollectiveKind kind;
  std::int64_t elements = 0;
  bool operator==(const NativeCall&) const = default;
};
using NativeCalls = std::vector<NativeCall>;

/// The calls of every rank; and where the ranks' pieces differ in size, those of each.
using CallsOf = std::function<NativeCalls(const Case& example)>;
using CallsOfRank = std::function<NativeCalls(const Case& example, int rank)>;

/// Returns one call for each of the sizes.
NativeCalls calls_of(CollectiveKind kind, const std::vector<std::int64_t>& sizes);

/// Returns a followed by b.
NativeCalls operator+(NativeCalls a, const NativeCalls& b);
NativeCalls repeated(int times, const NativeCalls& calls);

/// Returns the sandbox's cost of these calls on its default cluster, one after another.
Cost cost_of(const NativeCalls& calls, int world_size);

/// Returns the hint for `actual` calls in place of `expected` ones, of as many elements in all.
Hint many_calls(std::int64_t actual, std::int64_t expected, CollectiveKind kind,
                std::int64_t elements);

/// Returns the unit Ψ: the bytes of parameters of these sizes.
CostUnit psi_of(const std::vector<std::int64_t>& sizes);

/// Returns a subject that may call native collectives, and promises the cost of these calls, in
/// bytes. A cost other than that is explained by the first call that is not one of them.
Subject subject_with_calls(std::function<std::vector<Case>()> cases, const CallsOf& calls,
                           std::vector<RunCheck> checks = {});

/// The same, where ranks make the same calls with different numbers of elements: the largest count.
Subject subject_with_calls(std::function<std::vector<Case>()> cases, const CallsOfRank& calls,
                           std::vector<RunCheck> checks = {});

/// Returns the check that ranks make exactly these calls, in this order.
RunCheck check_of_calls(CallsOf calls);
RunCheck check_of_calls(CallsOfRank calls);

}  // namespace rankbox
