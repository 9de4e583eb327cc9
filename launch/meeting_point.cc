#include "launch/meeting_point.h"

#include <fmt/format.h>

#include "comm/errors.h"
#include "launch/slurm_lists.h"
#include "launch/whole_number.h"

namespace rankbox::launcher {

namespace {

constexpr int kMostPort = 65535;

int port_from(const std::string& name, const std::string& text, int most) {
  const auto port = whole_number(text, 1, most);
  if (port) return *port;
  throw InvalidArgument(fmt::format(
      "{}='{}' should be a port from 1 to {}: correct it, or set RANKBOX_PORT", name, text, most));
}

int port_of(const Environment& environment) {
  if (const auto own = environment("RANKBOX_PORT")) {
    return port_from("RANKBOX_PORT", *own, kMostPort);
  }
  if (const auto agent = environment("MASTER_PORT")) {
    return port_from("MASTER_PORT", *agent, kMostPort - 1) + 1;
  }
  return kDefaultPort;
}

}  // namespace

MeetingPoint meeting_point(const RankVariables& who, const Environment& environment) {
  MeetingPoint point;
  point.port = port_of(environment);
  if (const auto address = environment("MASTER_ADDR")) {
    point.address = *address;
    point.source = "MASTER_ADDR";
    // [::1] is how an IPv6 address is written before a port.
    if (point.address.front() == '[' && point.address.back() == ']') {
      point.address = point.address.substr(1, point.address.size() - 2);
    }
    return point;
  }
  if (who.local_size == who.world_size) {
    point.address = "127.0.0.1";
    point.source = "all ranks being on this node";
    return point;
  }
  // mpirun's processes may see the step of its own daemons, which leaves the first node out.
  const std::string step = who.launcher == "Slurm" ? "SLURM_STEP_NODELIST" : "";
  for (const std::string& name : {step, std::string("SLURM_JOB_NODELIST")}) {
    const auto hosts = name.empty() ? std::nullopt : environment(name);
    if (!hosts) continue;
    point.address = first_host(*hosts, name);
    point.source = "the first host of " + name;
    return point;
  }
  throw InvalidArgument(
      fmt::format("rank {} of {} was started by {}, but nothing tells where rank 0 is: set "
                  "MASTER_ADDR to its host on all "
                  "ranks (127.0.0.1 if all run on this machine)",
                  who.rank, who.world_size, who.launcher));
}

std::string endpoint(const std::string& address, int port) {
  const bool ipv6 = address.find(':') != std::string::npos;
  return ipv6 ? fmt::format("[{}]:{}", address, port) : fmt::format("{}:{}", address, port);
}

}  // namespace rankbox::launcher
