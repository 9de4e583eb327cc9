// Where ranks meet, and Slurm's lists of hosts.
#include "launch/meeting_point.h"

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "comm/errors.h"
#include "launch/slurm_lists.h"

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

RankVariables rank_of(const std::string& launcher, int local_size) {
  RankVariables who;
  who.rank = 1;
  who.world_size = 4;
  who.local_size = local_size;
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

TEST_CASE("the address is the first that anybody tells") {
  struct Row {
    RankVariables who;
    Variables variables;
    std::string expected;
  };
  const Variables slurm = {{"SLURM_JOB_NODELIST", "n[1-4]"}, {"SLURM_STEP_NODELIST", "n[2-3]"}};
  const std::vector<Row> rows = {
      {rank_of("torchrun", 2), {{"MASTER_ADDR", "node1"}}, "node1 from MASTER_ADDR"},
      {rank_of("torchrun", 2), {{"MASTER_ADDR", "[::1]"}}, "::1 from MASTER_ADDR"},
      {rank_of("Slurm", 4), {{"MASTER_ADDR", "10.0.0.1"}}, "10.0.0.1 from MASTER_ADDR"},
      {rank_of("Open MPI", 4), {}, "127.0.0.1 from all ranks being on this node"},
      {rank_of("Slurm", 4), slurm, "127.0.0.1 from all ranks being on this node"},
      {rank_of("Slurm", 2), slurm, "n2 from the first host of SLURM_STEP_NODELIST"},
      {rank_of("Slurm", -1),
       {{"SLURM_JOB_NODELIST", "n7"}},
       "n7 from the first host of SLURM_JOB_NODELIST"},
      // The step is that of mpirun's daemons.
      {rank_of("Open MPI", 2), slurm, "n1 from the first host of SLURM_JOB_NODELIST"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.expected);
    const MeetingPoint point = meeting_point(row.who, environment_of(row.variables));
    CHECK(point.address + " from " + point.source == row.expected);
  }
}

TEST_CASE("where nobody tells the address, MASTER_ADDR is asked for") {
  for (const int local_size : {-1, 2}) {
    const std::string message =
        message_of([&] { meeting_point(rank_of("Open MPI", local_size), environment_of({})); });
    CAPTURE(message);
    CHECK(message.find("rank 1 of 4 was started by Open MPI") == 0);
    CHECK(message.find("set MASTER_ADDR") != std::string::npos);
  }
}

TEST_CASE("the port is ours, or the one after the agent's, or the usual one") {
  const RankVariables who = rank_of("torchrun", 4);
  const std::vector<std::pair<Variables, int>> rows = {
      {{}, kDefaultPort},
      {{{"MASTER_PORT", "29500"}}, 29501},
      {{{"MASTER_PORT", "29500"}, {"RANKBOX_PORT", "7"}}, 7},
      {{{"RANKBOX_PORT", "65535"}}, 65535},
  };
  for (const auto& [variables, port] : rows) {
    CHECK(meeting_point(who, environment_of(variables)).port == port);
  }
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"RANKBOX_PORT", "0"},
                                                        {"RANKBOX_PORT", "65536"},
                                                        {"RANKBOX_PORT", "http"},
                                                        {"MASTER_PORT", "65535"},
                                                        {"MASTER_PORT", "-1"}}) {
    const Variables variables = {{name, value}};
    const std::string message = message_of([&] { meeting_point(who, environment_of(variables)); });
    CAPTURE(message);
    CHECK(message.find(fmt::format("{}='{}' should be a port from 1 to ", name, value)) == 0);
    CHECK(message.find("set RANKBOX_PORT") != std::string::npos);
  }
}

TEST_CASE("an IPv6 address is set apart from its port") {
  CHECK(endpoint("10.0.0.1", 80) == "10.0.0.1:80");
  CHECK(endpoint("node1", 80) == "node1:80");
  CHECK(endpoint("fe80::1", 80) == "[fe80::1]:80");
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
    CHECK(message.find("LIST='" + list + "' should be a list like node[03-05,9]") == 0);
  }
}

TEST_CASE("Slurm's numbers of tasks per node") {
  const std::vector<std::pair<std::string, std::vector<int>>> rows = {
      {"4", {4}}, {"2,1", {2, 1}}, {"2(x3),1", {2, 2, 2, 1}}, {"1,8(x2)", {1, 8, 8}}};
  for (const auto& [list, tasks] : rows) CHECK(tasks_per_node(list, "LIST") == tasks);
  for (const std::string list :
       {"", "x", "2(", "2(x)", "2(x2", "2(xa)", "0", "1,", "2(x99999999)"}) {
    CAPTURE(list);
    const std::string message = message_of([&] { tasks_per_node(list, "LIST"); });
    CHECK(message.find("LIST='" + list + "' should be a list like 2(x3),1") == 0);
  }
}

}  // namespace
}  // namespace rankbox::launcher
