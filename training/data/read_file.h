// Reading a whole file, as bytes.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "comm/errors.h"

namespace rankbox {

/// Throws InvalidArgument if it cannot be read: it does not exist, is a folder, …
inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  // An empty file has nothing to copy, which would count as a failure.
  if (file.is_open() && file.peek() != std::ifstream::traits_type::eof()) bytes << file.rdbuf();
  if (!file.is_open() || file.bad() || bytes.bad())
    throw InvalidArgument(path + ": cannot be read");
  return bytes.str();
}

}  // namespace rankbox
