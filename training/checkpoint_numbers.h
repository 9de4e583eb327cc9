// The names of the numbers in a checkpoint, for a program that reads files of its older versions.
#pragma once

#include <string>
#include <vector>

namespace rankbox {

/// Returns the names of TrainingState::numbers in the file, in their order. Throws as
/// load_checkpoint does for a file that cannot be read, is truncated or damaged.
std::vector<std::string> checkpoint_numbers(const std::string& path);

}  // namespace rankbox
