// Files whose names are nearly those of exercises: in capitals, with another ending, with more
// behind, hidden.
#pragma once

#include <filesystem>
#include <string>

namespace rankbox::cli {

/// Returns whether the file is C++ by its name: .cc or .cpp.
bool is_source(const std::filesystem::path& path);

bool is_hidden(const std::filesystem::path& path);

std::string lower_case(std::string text);

/// Returns the name that a C++ file may have been meant to have, without its ending: "race" for
/// .Race.CC.txt. Empty if it is none by any reading.
std::string likely_name(const std::filesystem::path& path);

struct NearMiss {
  std::string exercise;  // that a file which is not graded may be meant for; empty: for none
  std::string why;       // it is not graded
};

NearMiss near_miss(const std::filesystem::path& path);

}  // namespace rankbox::cli
