#include <thread>

#include <nlohmann/json.hpp>

#include "cli/compare/report.h"

namespace rankbox::cli {
namespace {

using Json = nlohmann::ordered_json;  // members in the order written here

constexpr double kMicro = 1e6;

Json to_json(const Link& link) {
  return {{"alpha_us", link.alpha * kMicro}, {"beta_ns_per_byte", link.beta * 1e9}};
}

Json to_json(const Cluster& cluster) {
  return {{"name", cluster.name},
          {"within_node", to_json(cluster.within_node)},
          {"between_nodes", to_json(cluster.between_nodes)},
          {"gamma_ns_per_byte", cluster.gamma * 1e9},
          {"ranks_per_node", cluster.ranks_per_node}};
}

Json to_json(const Row& row) {
  return {{"collective", name_of(row.collective)},
          {"algorithm", row.algorithm},
          {"ranks", row.world_size},
          {"bytes", row.bytes},
          {"count", row.elements},
          {"time_us",
           {{"median", row.time.median * kMicro},
            {"q1", row.time.q1 * kMicro},
            {"q3", row.time.q3 * kMicro},
            {"iterations", row.time.iterations}}},
          {"vs_native", row.vs_native},
          {"busbw_gbps", row.busbw / 1e9},
          {"virtual_us", row.virtual_seconds * kMicro},
          {"virtual_busbw_gbps", row.virtual_busbw / 1e9},
          {"cost",
           {{"steps", row.cost.steps}, {"bytes", row.cost.bytes}, {"reduced", row.cost.reduced}}},
          {"wrong", row.wrong}};
}

}  // namespace

nlohmann::ordered_json to_json(const Plan& plan, const std::vector<Row>& rows) {
  Json results = Json::array();
  for (const Row& row : rows) {
    results.push_back(to_json(row));
  }
  return {{"version", 1},
          {"backend", "sim"},
          {"collective", plan.collectives.size() == 1 ? name_of(plan.collectives.front()) : "all"},
          {"op", name_of(plan.op)},
          {"dtype", name_of(Tensor::dtype())},
          {"cores", std::thread::hardware_concurrency()},
          {"executor", name_of(plan.executor)},
          {"cluster", to_json(plan.cluster)},
          {"results", std::move(results)}};
}

}  // namespace rankbox::cli
