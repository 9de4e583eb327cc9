// Lines of source files, for drawings that show calls.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rankbox {

/// Reads a file when one of its lines is first requested. Not thread safe.
class SourceText {
 public:
  /// Returns the lines without their ends; none if the file cannot be read.
  const std::vector<std::string>& lines(const std::string& file);

  /// Returns line `number`, from 1; empty if there is none.
  std::string line(const std::string& file, std::int64_t number);

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace rankbox
