#include "launch/hello.h"

#include <array>

#include <fmt/format.h>
#include <unistd.h>

#include "launch/wire.h"

namespace rankbox::launcher {

namespace {

std::string name_of_job(const std::string& job) {
  return job.empty() ? "a job without a name" : fmt::format("job '{}'", job);
}

}  // namespace

std::string encode(const Hello& hello) {
  return WireWriter()
      .u32(hello.version)
      .u32(static_cast<std::uint32_t>(hello.rank))
      .u32(static_cast<std::uint32_t>(hello.world_size))
      .text(hello.job)
      .text(hello.who)
      .take();
}

Hello decode_hello(std::string_view bytes) {
  WireReader reader(bytes);
  Hello hello;
  hello.version = reader.u32();
  hello.rank = static_cast<int>(reader.u32());
  hello.world_size = static_cast<int>(reader.u32());
  hello.job = reader.text();
  hello.who = reader.text();
  return hello;
}

std::string this_process() {
  std::array<char, 256> host = {};
  if (gethostname(host.data(), host.size() - 1) != 0) host = {'?'};
  return fmt::format("pid {} on {}", getpid(), host.data());
}

std::string disagreement(const Hello& host, const Hello& guest) {
  if (host.version != guest.version) {
    return fmt::format(
        "rank {} ({}) speaks version {} of the start-up protocol, and rank {} ({}) version {}: "
        "build all "
        "ranks from the same source",
        host.rank, host.who, host.version, guest.rank, guest.who, guest.version);
  }
  if (host.job != guest.job) {
    return fmt::format(
        "two jobs meet at one port: rank {} ({}) belongs to {}, and rank {} ({}) to {}: give each "
        "job a "
        "RANKBOX_PORT of its own, or all ranks of one job the same RANKBOX_JOB",
        host.rank, host.who, name_of_job(host.job), guest.rank, guest.who, name_of_job(guest.job));
  }
  if (host.world_size != guest.world_size) {
    return fmt::format(
        "the world size differs: {} for rank {} ({}), but {} for rank {} ({}): set the same "
        "WORLD_SIZE on all ranks",
        host.world_size, host.rank, host.who, guest.world_size, guest.rank, guest.who);
  }
  if (guest.rank < 0 || guest.rank >= host.world_size) {
    return fmt::format(
        "{} says that it is rank {} of {}, which does not exist: set RANK to 0 to {}", guest.who,
        guest.rank, host.world_size, host.world_size - 1);
  }
  if (host.rank == guest.rank) {
    return fmt::format("two processes are rank {}: {} and {}: give every process a RANK of its own",
                       host.rank, host.who, guest.who);
  }
  return "";
}

}  // namespace rankbox::launcher
