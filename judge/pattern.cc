#include "judge/pattern.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <set>
#include <tuple>

namespace rankbox {
namespace {

constexpr std::size_t kMostCases = 48;
constexpr std::int64_t kMostElements = 1000;

bool is_power_of_two(int p) { return std::has_single_bit(static_cast<unsigned>(p)); }
bool divides(const Case& example) { return example.count.value_or(0) % example.world_size == 0; }
bool has_one_each(const Case& example) { return example.count.value_or(0) >= example.world_size; }

/// What a case has that works. Those that say more come first.
struct Property {
  bool (*applies)(const Case& example);  // the case has the field
  bool (*holds)(const Case& example);
  const char* words;
};

const Property kProperties[] = {
    {[](const Case& example) { return example.op.has_value(); },
     [](const Case& example) { return example.op == ReduceOp::SUM; },
     "right for SUM only: does it use op?"},
    {[](const Case& example) { return example.op.has_value(); },
     [](const Case& example) { return example.op == ReduceOp::SUM || example.op == ReduceOp::AVG; },
     "right for SUM and AVG only: does it add where op says something else?"},
    {[](const Case& example) { return example.op.has_value(); },
     [](const Case& example) { return example.op != ReduceOp::AVG; },
     "wrong for AVG only: is the sum divided once, at the end?"},
    {[](const Case& example) { return example.root.has_value(); },
     [](const Case& example) { return example.root == 0; }, "right for root 0 only"},
    {[](const Case&) { return true; },
     [](const Case& example) { return is_power_of_two(example.world_size); },
     "right where the world size is a power of two, wrong for all others: does each rank's partner "
     "exist, and is there a round for the last ranks?"},
    {[](const Case&) { return true; }, [](const Case& example) { return example.world_size <= 2; },
     "right on 1 and 2 ranks, wrong on more"},
    {[](const Case&) { return true; },
     [](const Case& example) { return example.world_size % 2 == 0 || example.world_size == 1; },
     "right on an even number of ranks, wrong on an odd one"},
    {[](const Case&) { return true; }, [](const Case& example) { return example.world_size > 1; },
     "wrong on one rank only"},
    {[](const Case& example) { return example.count.has_value(); }, divides,
     "right where the world size divides the count, wrong elsewhere: do all pieces have one size?"},
    {[](const Case& example) { return example.count.has_value(); }, has_one_each,
     "wrong where there are fewer elements than ranks, and only there"},
    {[](const Case& example) { return example.count.has_value(); },
     [](const Case& example) { return example.count != 0; }, "wrong without elements only"},
};

/// Returns whether the cases that fail are those without the property. Two of each are no accident.
/// A case without elements has no values that could be wrong, and one rank has no messages: that
/// they pass says nothing.
bool explains(const Property& property, const std::vector<CaseOutcome>& outcomes) {
  int failed = 0;
  int right = 0;
  for (const CaseOutcome& outcome : outcomes) {
    if (!property.applies(outcome.example)) return false;
    if (!outcome.failed && outcome.example.count == 0) continue;
    const bool holds = property.holds(outcome.example);
    if (!outcome.failed && !holds && outcome.example.world_size == 1) continue;
    if (outcome.failed == holds) return false;
    ++(outcome.failed ? failed : right);
  }
  return failed >= 2 && right >= 2;
}

}  // namespace

std::vector<Case> telling_cases(const std::vector<Case>& cases) {
  std::vector<Case> some;
  using Kind = std::tuple<int, int, int, bool, bool, bool>;
  std::set<Kind> seen;
  for (const Case& example : cases) {
    const bool is_small =
        example.count.value_or(0) <= kMostElements && example.steps.value_or(0) == 0;
    const Kind kind = {example.world_size,
                       example.root ? std::min(*example.root, 1) : -1,
                       example.op ? static_cast<int>(*example.op) : -1,
                       divides(example),
                       has_one_each(example),
                       example.count == 0};
    if (is_small && seen.insert(kind).second) some.push_back(example);
  }
  if (some.size() <= kMostCases) return some;
  std::vector<Case> fewer;  // evenly, so that large worlds are among them
  for (std::size_t i = 0; i < kMostCases; ++i) fewer.push_back(some[i * some.size() / kMostCases]);
  return fewer;
}

std::string pattern_of(const std::vector<CaseOutcome>& outcomes) {
  for (const Property& property : kProperties) {
    if (explains(property, outcomes)) return property.words;
  }
  return "";
}

}  // namespace rankbox
