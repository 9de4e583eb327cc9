#include "training/run/strategies/all_reduce.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "collectives/node_grid.h"
#include "comm/errors.h"
#include "exercises/registry.h"
#include "solutions/table.h"

namespace rankbox::train {
namespace {

using InPlace = void (*)(Comm& dist, Tensor& tensor, ReduceOp op);
using OnGrid = void (*)(Comm& node, Comm& counterparts, Tensor& tensor, ReduceOp op);

AllReduce::Run native(Comm& dist) {
  return [&dist](Tensor& tensor, ReduceOp op) { dist.all_reduce(tensor, op); };
}

AllReduce::Run in_place(void (*function)(), Comm& dist) {
  return [run = reinterpret_cast<InPlace>(function), &dist](Tensor& tensor, ReduceOp op) {
    run(dist, tensor, op);
  };
}

AllReduce::Run on_grid(void (*function)(), const std::string& name, Comm& dist) {
  try {
    NodeGrid grid = split_by_node(dist, Place{});
    return [=, run = reinterpret_cast<OnGrid>(function)](Tensor& tensor, ReduceOp op) mutable {
      run(grid.node, grid.counterparts, tensor, op);
    };
  } catch (const UnevenNodes& error) {
    throw InvalidArgument(fmt::format("--all-reduce {}: {}", name, error.what()), error.context());
  }
}

}  // namespace

std::span<const AllReduce> all_reduces() {
  static const std::vector<AllReduce> all = [] {
    constexpr std::string_view kPrefix = "allreduce_";
    std::vector<AllReduce> found = {{"native", native, {}}};
    for (const Exercise& exercise : exercises()) {
      if (!exercise.name.starts_with(kPrefix)) continue;
      const std::string name = exercise.name.substr(kPrefix.size());
      std::function<AllReduce::Run(Comm & dist)> make;
      if (exercise.family == "allreduce") {
        make = [function = solution_of(exercise.name)](Comm& dist) {
          return in_place(function, dist);
        };
      } else if (exercise.family == "hierarchical_allreduce") {
        make = [function = solution_of(exercise.name), name](Comm& dist) {
          return on_grid(function, name, dist);
        };
      } else {
        continue;
      }
      std::vector<std::string> uses = exercise.calls;
      uses.insert(uses.begin(), exercise.name);
      found.push_back({name, std::move(make), std::move(uses)});
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
