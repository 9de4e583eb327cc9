// Where the processes of one world find each other: the address and port at which rank 0 listens.
//
//   address   MASTER_ADDR; else, in a Slurm job, its first host; else 127.0.0.1 if all ranks are on
//             one node; else nobody knows
//   port      RANKBOX_PORT; else MASTER_PORT + 1, because torchrun's agent may listen at MASTER_PORT
//             itself; else 29501
#pragma once

#include <string>

#include "launch/environment.h"
#include "launch/rank_variables.h"

namespace rankbox::launcher {

inline constexpr int kDefaultPort = 29501;

struct MeetingPoint {
  std::string address;  // a name, an IPv4 or an IPv6 address
  int port = kDefaultPort;
  std::string source;  // whence we have the address, for errors: "MASTER_ADDR", …
};

/// Throws InvalidArgument when nothing tells where rank 0 is, or a port is none.
MeetingPoint meeting_point(const RankVariables& who,
                           const Environment& environment = process_environment());

/// "10.0.0.1:29501", "[::1]:29501".
std::string endpoint(const std::string& address, int port);

}  // namespace rankbox::launcher
