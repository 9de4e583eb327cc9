// Judges dynamic_loss_scaling: all ranks skip a step or none does, and all agree on the scale.
#include "parallel/dynamic_loss_scaling.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "judge/case_lists.h"
#include "judge/compare.h"
#include "judge/salt.h"
#include "judge/training/native_calls.h"
#include "judge/training/parameters.h"
#include "judge/training_families.h"

namespace rankbox {

namespace {

using Function = decltype(&dynamic_loss_scaling);

constexpr std::size_t kParameters = 19;
constexpr std::int64_t kLateCount = 6;  // of the case that begins late in a long interval
constexpr int kLongInterval = 1'000'000;

/// Returns the scale before the first step. Worlds differ in scale and interval. There is neither a
/// floor nor a cap, so some scales are very small, and some exceed any that training needs. One is
/// no power of two.
LossScale first_scale(const Case& example) {
  const int p = example.world_size;
  const int usual[] = {119, 16, -110, 9};  // by p modulo 4
  LossScale first;
  first.scale = std::ldexp(p % 4 == 1 ? 1.25F : 1.0F,
                           static_cast<int>(drawn("scale", usual[p % 4], -100, 100)));
  if (*example.count == kLateCount) {
    first.growth_interval = kLongInterval;
    first.good_steps = kLongInterval - 2;
  } else {
    first.growth_interval = static_cast<int>(drawn("interval", p % 4 == 3 ? 1 : 3, 1, 4));
  }
  return first;
}

/// What happens in a step: nothing, or a gradient that is not finite.
struct Overflow {
  int rank = -1;            // -1: none
  bool everywhere = false;  // the other ranks have one, too
  int kind = 0;             // 0 to 2: see value_of()
  std::size_t parameter = 0;
  std::int64_t place = 0;  // in its gradient, modulo its size
};

/// Without a salt, the scale has time to grow between two overflows, and every rank overflows at
/// some step. A salt draws each step on its own: one in four overflows.
Overflow overflow_in(int step, const Case& example) {
  const int p = example.world_size;
  if (salt() == 0) {
    const bool happens = step % 6 == 2 || step % 7 == 6;
    return {happens ? step % p : -1, step % 7 == 6, step % 3,
            static_cast<std::size_t>(step * 5) % kParameters, step % 2 == 0 ? -1 : step};
  }
  Random random =
      salted("overflow").stream(to_string(example)).stream(static_cast<std::uint64_t>(step));
  const bool happens = random.chance(0.25);
  return {happens ? static_cast<int>(random.below(p)) : -1, random.chance(0.25),
          static_cast<int>(random.below(3)),
          static_cast<std::size_t>(random.below(std::int64_t{kParameters})), random.below(1 << 20)};
}

float value_of(const Overflow& overflow) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float kinds[] = {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
  return kinds[overflow.kind];
}

constexpr float kLargestFloat = std::numeric_limits<float>::max();

/// Returns the elements of a gradient without an overflow.
float finite_of(const ParameterList& parameters, const Parameter& parameter) {
  return &parameter == parameters.pointers[1] ? std::numeric_limits<float>::denorm_min()
                                              : kLargestFloat;
}

/// Returns sizes of many parameters.
std::vector<std::int64_t> sizes_of(const Case& example) {
  std::vector<std::int64_t> sizes = parameter_sizes(*example.count);
  sizes.resize(kParameters, 4);
  return sizes;
}

/// Returns the element that overflows. A gradient that is empty has none, but the first has.
Slice element_of(const ParameterList& parameters, const Overflow& overflow) {
  const bool is_empty = parameters.all[overflow.parameter].gradient.empty();
  Tensor& gradient = parameters.pointers[is_empty ? 0 : overflow.parameter]->gradient;
  const std::int64_t size = gradient.size();
  const std::int64_t i = (overflow.place + size) % size;
  return Slice(gradient).sub(i, i + 1);
}

/// Makes all gradients large and finite: their sum, and the square of one, are not. Those of one
/// parameter are tiny. Of the values, which do not count, none is finite.
void make_large(const ParameterList& parameters) {
  for (Parameter* parameter : parameters.pointers) {
    const float infinity = std::numeric_limits<float>::infinity();
    copy(parameter->value, full(parameter->value.shape(), infinity));
    if (parameter->gradient.empty()) continue;
    copy(parameter->gradient, full(parameter->gradient.shape(), finite_of(parameters, *parameter)));
  }
}

struct Expected {
  LossScale scale;
  bool skip = false;

  void go_on(bool overflow) {
    skip = overflow;
    if (overflow) {
      scale.scale /= 2;
      scale.good_steps = 0;
    } else if (++scale.good_steps == scale.growth_interval) {
      scale.scale *= 2;
      scale.good_steps = 0;
    }
  }
};

std::optional<Difference> compare_step(int step, bool is_culprit, const Expected& expected,
                                       const LossScale& scale, bool skip) {
  const Hint skip_hint =
      !expected.skip ? Hint("all-are-finite", "all gradients of all ranks are finite")
      : is_culprit   ? Hint("own-gradient-not-finite", "this rank's gradient is not finite")
                     : Hint("another-gradient-not-finite",
                            "another rank's gradient is not finite: all have to skip");
  if (auto wrong =
          compare_number(fmt::format("skip in step {}", step), skip, expected.skip, skip_hint))
    return wrong;
  if (auto wrong = compare_number(
          fmt::format("the scale after step {}", step), scale.scale, expected.scale.scale,
          {"halved-and-doubled",
           "halved by a skip, doubled by growth_interval good steps on end, on all ranks alike"}))
    return wrong;
  return compare_number(fmt::format("good_steps after step {}", step), scale.good_steps,
                        expected.scale.good_steps,
                        {"good-steps-since-change", "counted since the scale last changed"});
}

std::vector<Case> cases() {
  return cases_with_each(
      {{.count = 5, .steps = 3}, {.count = 5, .steps = 20}, {.count = kLateCount, .steps = 4}});
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const ParameterList parameters =
      make_parameters(sizes_of(example), dist.rank(), dist.world_size());
  make_large(parameters);
  Expected expected{first_scale(example)};
  LossScale scale = expected.scale;
  for (int step = 0; step < *example.steps; ++step) {
    const Overflow overflow = overflow_in(step, example);
    const bool is_culprit =
        overflow.rank == dist.rank() || (overflow.rank >= 0 && overflow.everywhere);
    const Slice element = element_of(parameters, overflow);
    Tensor before{Shape(1)};
    copy(before, element);
    if (is_culprit) copy(element, full(1, value_of(overflow)));
    bool skip = step % 2 == 0;  // to be overwritten
    function(dist, parameters.pointers, scale, skip);
    copy(element, before);

    expected.go_on(overflow.rank >= 0);
    if (auto wrong = compare_step(step, is_culprit, expected, scale, skip)) return wrong;
  }
  for (const Parameter& parameter : parameters.all) {
    auto wrong = compare(
        parameter.name + "'s gradient", parameter.gradient, parameter.gradient.size(),
        [&](std::int64_t) { return finite_of(parameters, parameter); },
        [](float, std::int64_t) {
          return Hint("gradients-unchanged", "gradients have to stay as they were");
        });
    if (wrong) return wrong;
  }
  return std::nullopt;
}

NativeCalls calls(const Case& example) {
  return repeated(*example.steps, {{CollectiveKind::kAllReduce, 1}});
}

}  // namespace

Family family::dynamic_loss_scaling() {
  return make_family<Function>(
      "dynamic_loss_scaling",
      "(Comm& dist, const std::vector<Parameter*>& parameters, LossScale& scale, bool& skip)",
      subject_with_calls(cases, calls), run);
}

}  // namespace rankbox
