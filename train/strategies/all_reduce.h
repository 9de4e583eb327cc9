// All-reduces that the mean of gradients can be taken with: the native one, and those of the registry.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/comm.h"

namespace rankbox::train {

struct AllReduce {
  std::string name;  // as --all-reduce has it
  void (*run)(Comm& dist, Tensor& tensor, ReduceOp op);
  std::vector<std::string> uses;  // exercises: its own function, and those that one calls
};

std::span<const AllReduce> all_reduces();

/// Throws InvalidArgument that lists them.
const AllReduce& all_reduce_named(std::string_view name);

}  // namespace rankbox::train
