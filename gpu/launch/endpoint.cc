#include "gpu/launch/endpoint.h"

#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox::launcher {

namespace {

constexpr int kMaxPort = 65535;

int port_in(const Environment& environment) {
  if (const auto own = number_in(environment, "RANKBOX_PORT", 1, kMaxPort)) return *own;
  const auto master = number_in(environment, "MASTER_PORT", 1, kMaxPort - 1);
  return master ? *master + 1 : kDefaultPort;
}

}  // namespace

std::string first_host(std::string_view hosts, const std::string& variable) {
  const auto refuse = [&] {
    throw InvalidArgument(fmt::format(
        "{}='{}' is not a list like node[03-05,9]: set MASTER_ADDR to the host of rank 0", variable,
        hosts));
  };
  std::string host;
  for (std::size_t i = 0; i < hosts.size() && hosts[i] != ','; ++i) {
    if (hosts[i] != '[') {
      host += hosts[i];
      continue;
    }
    // The first number in the brackets, with its leading zeros; the others belong to other hosts.
    const std::size_t close = hosts.find(']', i);
    const std::size_t end = hosts.find_first_of(",-]", i);
    if (close == std::string_view::npos || end == i + 1) refuse();
    host += hosts.substr(i + 1, end - i - 1);
    i = close;
  }
  if (host.empty() || host.find_first_of("[] \t/:") != std::string::npos) refuse();
  return host;
}

Endpoint endpoint_of_rank_0(const RankVariables& who, const Environment& environment) {
  const int port = port_in(environment);
  if (auto address = environment("MASTER_ADDR")) {
    // [::1] is the notation of an IPv6 address before a port.
    if (address->front() == '[' && address->back() == ']')
      address = address->substr(1, address->size() - 2);
    return {*address, port, "MASTER_ADDR"};
  }
  if (who.one_node) return {"127.0.0.1", port, "all ranks are on this node"};
  // Under mpirun in a Slurm job, the step is that of mpirun's daemons and excludes the first node.
  const std::string step = who.launcher == "Slurm" ? "SLURM_STEP_NODELIST" : "";
  for (const std::string& name : {step, std::string("SLURM_JOB_NODELIST")}) {
    if (const auto hosts = environment(name))
      return {first_host(*hosts, name), port, "the first host of " + name};
  }
  throw InvalidArgument(fmt::format(
      "{} started rank {} of {}, but no variable says where rank 0 is: set MASTER_ADDR to its host "
      "on all ranks (127.0.0.1 if all run on this machine)",
      who.launcher, who.rank, who.world_size));
}

std::string to_string(const Endpoint& endpoint) {
  const bool ipv6 = endpoint.address.find(':') != std::string::npos;
  return ipv6 ? fmt::format("[{}]:{}", endpoint.address, endpoint.port)
              : fmt::format("{}:{}", endpoint.address, endpoint.port);
}

}  // namespace rankbox::launcher
