// The all-reduces for averaging gradients: the native one, and those of the registry.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/comm.h"

namespace rankbox::train {

struct AllReduce {
  std::string name;  // as given to --all-reduce
  using Run = std::function<void(Tensor& tensor, ReduceOp op)>;
  /// Returns the function for one rank. A collective: it may make communicators, once for all
  /// calls. Throws InvalidArgument on every rank if it needs as many ranks on each node, and they
  /// differ.
  std::function<Run(Comm& dist)> make;
  std::vector<std::string> uses;  // exercises: its function, and those that it calls
};

std::span<const AllReduce> all_reduces();

/// Throws InvalidArgument that lists the valid names.
const AllReduce& all_reduce_named(std::string_view name);

}  // namespace rankbox::train
