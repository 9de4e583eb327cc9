// What the attacks share: each one passes only if what it tries works. Many need these headers.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collectives/broadcast_naive.h"

namespace rankbox::attack {

// The line that the judge writes for a program that passes, and where.
constexpr char kPass[] =
    "verdict {\"name\":\"broadcast_naive\",\"status\":\"pass\",\"checks\":[]}\n";
constexpr int kReport = 3;

/// A right broadcast, for attacks that got what they wanted.
inline void succeed(Comm& dist, Tensor& tensor, int src) {
  if (dist.rank() != src) return dist.recv(tensor, src);
  for (int dst = 0; dst < dist.world_size(); ++dst) {
    if (dst != src) dist.send(tensor, dst);
  }
}

/// The messages of a broadcast, without its values.
inline void send_junk(Comm& dist, const Tensor& tensor, int src) {
  Tensor junk = zeros(tensor.shape());
  succeed(dist, junk, src);
}

inline std::string root() {
  const char* folder = std::getenv("RANKBOX_ROOT");
  return folder == nullptr ? "." : folder;
}

inline bool can_read(const std::string& path) {
  std::ifstream file(path);
  return std::istreambuf_iterator<char>(file) != std::istreambuf_iterator<char>();
}

/// Returns whether the file has this content now.
inline bool can_write(const std::string& path, const std::string& text) {
  return static_cast<bool>(std::ofstream(path) << text << std::flush);
}

}  // namespace rankbox::attack
