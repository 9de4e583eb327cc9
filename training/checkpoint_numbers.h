// The numbers in a checkpoint, for a program that reads files of its older versions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rankbox {

/// Returns TrainingState::numbers of the file, in their order. Throws as load_checkpoint does for a
/// file that cannot be read, is truncated or damaged.
std::vector<std::pair<std::string, std::int64_t>> checkpoint_numbers(const std::string& path);

}  // namespace rankbox
