// The names of files that are handed in side by side, without a folder for each student.
#pragma once

#include <optional>
#include <string>

namespace rankbox::cli {

/// The parts of a name, without its extension.
struct FlatName {
  std::string student;
  std::string number;
  std::string exercise;
  int version = 0;
  bool is_late = false;
};

/// Reads ada__broadcast_tree. Returns nothing for other names.
std::optional<FlatName> parse_flat(const std::string& stem);

/// Reads lovelaceada_4711_99_broadcast_tree-1, or lovelaceada_LATE_4711_…: Canvas numbers the
/// student and the submission, and what was handed in again. Returns nothing for other names.
std::optional<FlatName> parse_canvas(const std::string& stem);

}  // namespace rankbox::cli
