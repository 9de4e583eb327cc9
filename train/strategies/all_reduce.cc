#include "train/strategies/all_reduce.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/errors.h"
#include "exercises/registry.h"
#include "solutions/table.h"

namespace rankbox::train {
namespace {

void native(Comm& dist, Tensor& tensor, ReduceOp op) { dist.all_reduce(tensor, op); }

}  // namespace

std::span<const AllReduce> all_reduces() {
  static const std::vector<AllReduce> all = [] {
    constexpr std::string_view kPrefix = "allreduce_";
    std::vector<AllReduce> found = {{"native", native, {}}};
    for (const Exercise& exercise : exercises()) {
      const bool is_called_alike =
          exercise.family == "allreduce" || exercise.family == "hierarchical_allreduce";
      if (!is_called_alike || !exercise.name.starts_with(kPrefix)) continue;
      std::vector<std::string> uses = exercise.calls;
      uses.insert(uses.begin(), exercise.name);
      found.push_back(
          {exercise.name.substr(kPrefix.size()),
           reinterpret_cast<void (*)(Comm&, Tensor&, ReduceOp)>(solution_of(exercise.name)),
           std::move(uses)});
    }
    return found;
  }();
  return all;
}

const AllReduce& all_reduce_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const AllReduce& each : all_reduces()) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  throw InvalidArgument(fmt::format("--all-reduce {}: there is no such all-reduce, only {}", name,
                                    fmt::join(names, ", ")));
}

}  // namespace rankbox::train
