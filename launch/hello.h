// What two processes tell each other first, to be sure that they belong to one world.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rankbox::launcher {

/// Changes with the meaning of any message. A hello itself must stay readable for all.
inline constexpr std::uint32_t kProtocolVersion = 1;

struct Hello {
  std::uint32_t version = kProtocolVersion;
  int rank = 0;
  int world_size = 1;
  std::string job;  // the same for all processes of one job
  std::string who;  // "pid 4711 on node7", for errors
};

std::string encode(const Hello& hello);

/// Throws Error for what is no hello.
Hello decode_hello(std::string_view bytes);

/// "pid 4711 on node7", of this process.
std::string this_process();

/// Why these two cannot belong to one world, with both sides and the way out; empty: they can.
std::string disagreement(const Hello& host, const Hello& guest);

}  // namespace rankbox::launcher
