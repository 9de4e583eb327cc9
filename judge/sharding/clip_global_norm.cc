// Judges clip_global_norm: the norm of all ranks' gradients, and the gradients after clipping.
#include "parallel/clip_global_norm.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "judge/case_lists.h"
#include "judge/compare.h"
#include "judge/judge.h"
#include "judge/memory_window.h"
#include "judge/noted_result.h"
#include "judge/sharding/clip_calls.h"
#include "judge/training/native_calls.h"
#include "judge/training/parameters.h"
#include "judge/training_families.h"

namespace rankbox {

namespace {

using Function = decltype(&clip_global_norm);

constexpr float kRelative = 2e-6F;
constexpr std::int64_t kWide = 40000;     // of a case in which a copy of all gradients shows
constexpr std::int64_t kLarge = 1 << 20;  // Subject::large_cases
constexpr std::int64_t kBookkeeping = std::int64_t{16} << 10;

/// Parameters with these gradients. One that is all zeros is empty in places.
ParameterList parameters_of(const std::vector<Gradient>& gradients, const char* name) {
  ParameterList list;
  for (const Gradient& gradient : gradients) {
    list.all.push_back({fmt::format("{}{}.weight", name, list.all.size()),
                        full(parameter_shape(std::ssize(gradient)), 1)});
    const bool is_zero = std::ranges::all_of(gradient, [](float each) { return each == 0; });
    if (!is_zero || list.all.size() == 1) list.all.back().gradient = in_parameter_shape(gradient);
  }
  for (Parameter& parameter : list.all) list.pointers.push_back(&parameter);
  return list;
}

bool near(double is, double should_be) {
  return std::abs(is - should_be) <= kRelative * std::abs(should_be);
}

/// Describes the likely origin of a wrong norm.
Hint origin_of_norm(double is, const Clipped& expected, int rank) {
  const double own = expected.sharded[static_cast<std::size_t>(rank)];
  const double replicated = expected.replicated;
  const auto p = static_cast<double>(expected.sharded.size());
  double sum_of_norms = 0;
  for (const double each : expected.sharded) sum_of_norms += std::sqrt(each);
  const double largest = *std::ranges::max_element(expected.sharded);
  if (!std::isfinite(expected.norm))
    return {"not-finite-on-all-ranks",
            "a gradient is not finite: that must show on all ranks, so that all skip the step"};
  if (!std::isfinite(is))
    return {"squares-overflow", "squares overflow 32 bits: add up doubles, and send one"};
  if (near(is, std::sqrt(expected.total)))
    return {"replicated-missing", "replicated gradients are missing"};
  if (near(is, std::sqrt(own + replicated)) || near(is, std::sqrt(own)))
    return {"own-norm-alone",
            "that is the norm of this rank's own gradients: the other ranks' squares are missing"};
  if (near(is, expected.total + replicated)) return {"root-missing", "the root is missing"};
  if (near(is, std::sqrt(expected.total + p * replicated)))
    return {"replicated-counted-p-times",
            "replicated gradients are counted once for each rank: all ranks hold the same ones"};
  if (near(is, sum_of_norms) || near(is, sum_of_norms + std::sqrt(replicated)) ||
      near(is, std::hypot(sum_of_norms, std::sqrt(replicated))))
    return {"norms-added", "norms cannot be added: add squares, and take the root of the sum"};
  if (near(is, std::sqrt(largest + replicated)))
    return {"maximum-of-norms", "that is a maximum over the ranks: add up the squares of all"};
  if (near(is, std::sqrt((expected.total + replicated) / p)) ||
      near(is, std::sqrt(expected.total / p + replicated)) ||
      near(is, std::sqrt(expected.total + replicated) / p))
    return {"norm-divided-by-p", "it is divided by the world size: a norm is no mean"};
  return {"root-of-all-squares",
          "the root of the sum of all squares: sharded ones of all ranks, replicated ones once"};
}

Hint origin_of_clipped(float is, float was, const Clipped& expected) {
  if (expected.factor >= 1)
    return std::isfinite(expected.norm)
               ? Hint("norm-within-limit",
                      "the norm is not above max_norm: gradients stay as they are")
               : Hint(
                     "norm-not-finite",
                     "the norm is not finite: gradients stay as they are, and the step is skipped");
  if (is == was)
    return {"not-scaled", "not scaled: every gradient is, on all ranks, sharded and replicated"};
  if (std::abs(is) == expected.max_norm)
    return {"clipped-one-by-one", "clipped one by one: scale all by one factor"};
  return {"factor-of-norm", fmt::format("{} times the factor max_norm / (norm + 1e-6) = {:.6g}",
                                        was, expected.factor)};
}

bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

std::optional<Difference> compare_gradients(const std::vector<Gradient>& before,
                                            const ParameterList& after, const Clipped& expected,
                                            const std::string& where) {
  for (std::size_t k = 0; k < before.size(); ++k) {
    const Parameter& parameter = after.all[k];
    const std::int64_t size = parameter.value.size();
    const auto one = [](std::int64_t) { return 1.0F; };
    const auto stays = [](float, std::int64_t) {
      return Hint("only-gradients-change", "only gradients change");
    };
    if (auto wrong =
            compare(parameter.name + "'s value" + where, parameter.value, size, one, stays))
      return wrong;
    const Gradient& was = before[k];
    // It may still be empty.
    Gradient is(was.size());
    if (!parameter.gradient.empty()) {
      if (auto wrong =
              compare_size(parameter.name + "'s gradient" + where, parameter.gradient.size(), size))
        return wrong;
      if (auto wrong =
              compare_parameter_shape(parameter.name + "'s gradient" + where, parameter.gradient))
        return wrong;
      is = to_host(parameter.gradient);
    }
    for (std::size_t i = 0; i < was.size(); ++i) {
      const auto should_be = static_cast<float>(was[i] * expected.factor);
      if (expected.factor < 1 ? near(is[i], should_be) : same(is[i], was[i])) continue;
      return Difference{parameter.name + "'s gradient" + where, static_cast<std::int64_t>(i),
                        in_words(should_be), in_words(is[i]),
                        origin_of_clipped(is[i], was[i], expected)};
    }
  }
  return std::nullopt;
}

/// A call may hold a copy of the largest gradient.
std::optional<Difference> compare_memory(const MemoryWindow& window, const ParameterList& sharded,
                                         const ParameterList& replicated) {
  if (judges_only_values()) return std::nullopt;  // libraries hold their own memory
  std::int64_t largest = 0;
  for (const ParameterList* list : {&sharded, &replicated}) {
    for (const Parameter& parameter : list->all)
      largest = std::max(largest, parameter.value.bytes());
  }
  const std::int64_t most = largest + kBookkeeping;
  const bool keeps = window.kept() > kBookkeeping;
  if (!keeps && window.peak() <= most) return std::nullopt;
  Difference excess{
      keeps ? "memory still held after the call" : "memory held at the worst moment",
      -1,
      fmt::format("at most {} bytes", keeps ? kBookkeeping : most),
      fmt::format("{} bytes", keeps ? window.kept() : window.peak()),
      {"one-copy-at-a-time",
       "besides what was given, a copy of one gradient at a time: squares are added up "
       "where the gradients are"}};
  excess.kind = FailureKind::kMemory;
  return excess;
}

/// The norm, for note_result: NaNs count as equal.
void add_bits(double norm, Gradient& bits) {
  if (std::isnan(norm)) norm = std::numeric_limits<double>::infinity();
  for (const float half : std::bit_cast<std::array<float, 2>>(norm)) bits.push_back(half);
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  std::optional<Difference> excess;
  std::optional<Difference> wrong;  // a wrong rank goes on: the others may wait for it
  Gradient bits;
  for (int step = 0; step < *example.steps; ++step) {
    const ClipCall& call = clip_calls()[static_cast<std::size_t>(step) % clip_calls().size()];
    const Clipped expected(call, *example.count, dist.world_size());
    const auto shards = shards_of(call, *example.count, dist.rank(), dist.world_size());
    const auto replicas = replicas_of(call, *example.count);
    const ParameterList sharded = parameters_of(shards, "shard");
    const ParameterList replicated = parameters_of(replicas, "norm");
    double norm = -1;  // to be overwritten
    {
      const MemoryWindow window;
      function(dist, sharded.pointers, replicated.pointers, expected.max_norm, norm);
      if (!excess) excess = compare_memory(window, sharded, replicated);
    }
    const std::string where = fmt::format(" in call {} ({})", step, call.what);
    const bool right =
        std::isfinite(expected.norm) ? near(norm, expected.norm) : !std::isfinite(norm);
    if (!right && !wrong) {
      wrong = Difference{
          "norm" + where, -1,
          std::isfinite(expected.norm) ? fmt::format("{:.9g}", expected.norm) : "infinite or NaN",
          fmt::format("{:.9g}", norm), origin_of_norm(norm, expected, dist.rank())};
    }
    if (!wrong) wrong = compare_gradients(shards, sharded, expected, where);
    if (!wrong) wrong = compare_gradients(replicas, replicated, expected, where);
    add_bits(norm, bits);
  }
  note_result(from_host(bits));
  return wrong ? wrong : excess;
}

std::vector<Case> cases() {
  const auto all_calls = static_cast<int>(clip_calls().size());
  std::vector<Case> cases = cases_with_each({{.count = 0, .steps = 1},
                                             {.count = 5, .steps = 1},
                                             {.count = 5, .steps = all_calls},
                                             {.count = 97, .steps = all_calls}});
  for (const int world_size : {1, 2, 5})
    cases.push_back({.world_size = world_size, .count = kWide, .steps = 1});
  return cases;
}

NativeCalls calls(const Case& example) {
  return repeated(*example.steps, {{CollectiveKind::kAllReduce, 2}});  // as many bytes as a double
}

Subject subject() {
  Subject made = subject_with_calls(cases, calls);
  made.limits_memory = true;
  made.large_cases = {{.world_size = 2, .count = kLarge, .steps = 1}};
  made.count_to_show = 64;
  return made;
}

}  // namespace

Family family::clip_global_norm() {
  return make_family<Function>(
      "clip_global_norm",
      "(Comm& dist, const std::vector<Parameter*>& sharded, const std::vector<Parameter*>& "
      "replicated, float max_norm, double& norm)",
      subject(), run);
}

}  // namespace rankbox
