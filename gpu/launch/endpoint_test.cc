// The endpoint of rank 0, and Slurm's lists of hosts.
#include "gpu/launch/endpoint.h"

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox::launcher {
namespace {

using Variables = std::map<std::string, std::string>;

Environment environment_of(Variables variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

RankVariables rank_of(const std::string& launcher, bool one_node) {
  RankVariables who;
  who.rank = 1;
  who.world_size = 4;
  who.one_node = one_node;
  who.launcher = launcher;
  return who;
}

template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "was accepted";
}

TEST_CASE("the address is that of the first variable that has one") {
  struct Row {
    RankVariables who;
    Variables variables;
    std::string address, source;
  };
  const Variables slurm = {{"SLURM_JOB_NODELIST", "n[1-4]"}, {"SLURM_STEP_NODELIST", "n[2-3]"}};
  const std::vector<Row> rows = {
      {rank_of("torchrun", false), {{"MASTER_ADDR", "node1"}}, "node1", "MASTER_ADDR"},
      {rank_of("torchrun", false), {{"MASTER_ADDR", "[::1]"}}, "::1", "MASTER_ADDR"},
      {rank_of("Slurm", true), {{"MASTER_ADDR", "10.0.0.1"}}, "10.0.0.1", "MASTER_ADDR"},
      {rank_of("Open MPI", true), {}, "127.0.0.1", "all ranks are on this node"},
      {rank_of("Slurm", true), slurm, "127.0.0.1", "all ranks are on this node"},
      {rank_of("Slurm", false), slurm, "n2", "the first host of SLURM_STEP_NODELIST"},
      {rank_of("Slurm", false),
       {{"SLURM_JOB_NODELIST", "n7"}},
       "n7",
       "the first host of SLURM_JOB_NODELIST"},
      // The step is that of mpirun's daemons.
      {rank_of("Open MPI", false), slurm, "n1", "the first host of SLURM_JOB_NODELIST"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.source);
    const Endpoint endpoint = endpoint_of_rank_0(row.who, environment_of(row.variables));
    CHECK(endpoint.address == row.address);
    CHECK(endpoint.source == row.source);
  }
}

TEST_CASE("where no variable has the address, the error asks for MASTER_ADDR") {
  const std::string message =
      message_of([] { endpoint_of_rank_0(rank_of("Open MPI", false), environment_of({})); });
  CAPTURE(message);
  CHECK(message.find("Open MPI") != std::string::npos);
  CHECK(message.find("MASTER_ADDR") != std::string::npos);
}

TEST_CASE("the port is RANKBOX_PORT, or the one after MASTER_PORT, or the default") {
  const RankVariables who = rank_of("torchrun", true);
  const std::vector<std::pair<Variables, int>> rows = {
      {{}, kDefaultPort},
      {{{"MASTER_PORT", "29500"}}, 29501},
      {{{"MASTER_PORT", "29500"}, {"RANKBOX_PORT", "7"}}, 7},
      {{{"RANKBOX_PORT", "65535"}}, 65535},
  };
  for (const auto& [variables, port] : rows) {
    const Endpoint endpoint = endpoint_of_rank_0(who, environment_of(variables));
    CHECK(endpoint.port == port);
  }
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"RANKBOX_PORT", "0"},
                                                        {"RANKBOX_PORT", "65536"},
                                                        {"RANKBOX_PORT", "http"},
                                                        {"MASTER_PORT", "65535"},
                                                        {"MASTER_PORT", "-1"}}) {
    const Variables variables = {{name, value}};
    const std::string message =
        message_of([&] { endpoint_of_rank_0(who, environment_of(variables)); });
    CAPTURE(message);
    CHECK(message.find(fmt::format("{}='{}' ", name, value)) == 0);
  }
}

TEST_CASE("an IPv6 address is in brackets before its port") {
  CHECK(to_string(Endpoint{"10.0.0.1", 80, ""}) == "10.0.0.1:80");
  CHECK(to_string(Endpoint{"node1", 80, ""}) == "node1:80");
  CHECK(to_string(Endpoint{"fe80::1", 80, ""}) == "[fe80::1]:80");
}

TEST_CASE("the first host of Slurm's lists") {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"node7", "node7"},
      {"node7,node8", "node7"},
      {"node[03-05,9]", "node03"},
      {"node[9,03-05],login", "node9"},
      {"node[012]", "node012"},
      {"gpu-a-[1-2]", "gpu-a-1"},
      {"rack[2-3]n[07-09]-ib", "rack2n07-ib"},
      {"a.example.org,b", "a.example.org"},
  };
  for (const auto& [list, first] : rows) CHECK(first_host(list, "LIST") == first);
  for (const std::string list : {"", ",a", "n[", "n[1-3", "n[]", "n[,1]", "n]1", "a b", "n[[1]]"}) {
    CAPTURE(list);
    const std::string message = message_of([&] { first_host(list, "LIST"); });
    CHECK(message.find("LIST='" + list + "' ") == 0);
  }
}

}  // namespace
}  // namespace rankbox::launcher
