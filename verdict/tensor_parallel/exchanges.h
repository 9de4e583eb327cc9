// What ranks of a tensor-parallel layer tell each other, as its cost and as a schedule: which native
// collectives, in which order, of how many elements. Two programs with the same values may differ in
// just this, and where a sum of costs says "twice the bytes", this says what was one too many.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/collective_kind.h"
#include "comm/trace.h"
#include "verdict/subject.h"

namespace rankbox {

/// A native collective to which every rank contributes so many elements.
struct NativeCall {
  CollectiveKind kind;
  std::int64_t elements = 0;
  bool operator==(const NativeCall&) const = default;
};

/// A subject whose ranks meet in native collectives only, and in exactly these.
class SubjectOfExchanges : public Subject {
 public:
  /// In their order.
  virtual std::vector<NativeCall> exchanges(const Case& example) const = 0;

  Cost cost(const Case& example) const override;
  std::optional<Difference> compare_schedule(const RunReport& report,
                                             const Case& example) const override;
  bool may_call_collectives() const override { return true; }
};

}  // namespace rankbox
