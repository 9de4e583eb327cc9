// The address and port at which rank 0 listens for the other processes.
//
//   address   MASTER_ADDR; else 127.0.0.1 if all ranks are on one node; else, in a Slurm job, its
//             first host; otherwise an error asks for MASTER_ADDR
//   port      RANKBOX_PORT; else MASTER_PORT + 1, because torchrun's agent may listen at
//             MASTER_PORT itself; else 29501
#pragma once

#include <string>
#include <string_view>

#include "gpu/launch/rank_variables.h"

namespace rankbox::launcher {

inline constexpr int kDefaultPort = 29501;

struct Endpoint {
  std::string address;  // a name, an IPv4 or an IPv6 address
  int port = kDefaultPort;
  std::string source;  // the variable or rule it comes from, for errors: "MASTER_ADDR", …
};

/// Throws InvalidArgument if no variable gives rank 0's address, or a port is invalid.
Endpoint endpoint_of_rank_0(const RankVariables& who,
                            const Environment& environment = process_environment());

/// Returns "10.0.0.1:29501" or "[::1]:29501".
std::string to_string(const Endpoint& endpoint);

/// Returns the first host of a list in Slurm's notation: "node[03-05,9],login" -> "node03",
/// "rack[2-3]n[07-09]-ib" -> "rack2n07-ib". Throws InvalidArgument, naming `variable`, for other
/// texts.
std::string first_host(std::string_view hosts, const std::string& variable);

}  // namespace rankbox::launcher
