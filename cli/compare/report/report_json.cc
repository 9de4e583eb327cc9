#include "cli/compare/report/report_json.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <string_view>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/compare/plan/plan.h"
#include "cli/compare/report/report.h"
#include "comm/comm.h"
#include "files/output_file.h"

namespace rankbox::cli {
namespace {

using Json = nlohmann::ordered_json;  // members in the order written here

constexpr double kMicro = 1e6;
constexpr double kGiga = 1e9;

Json as_json(const Link& link) {
  return {{"alpha_us", link.alpha * kMicro}, {"beta_ns_per_byte", link.beta * kGiga}};
}

Json as_json(const Cluster& cluster) {
  return {{"name", cluster.name},
          {"within_node", as_json(cluster.within_node)},
          {"between_nodes", as_json(cluster.between_nodes)},
          {"gamma_ns_per_byte", cluster.gamma * kGiga},
          {"ranks_per_node", cluster.ranks_per_node}};
}

Json as_json(const std::optional<Times>& time) {
  if (!time) return {};
  return {{"median", time->median * kMicro},
          {"q1", time->q1 * kMicro},
          {"q3", time->q3 * kMicro},
          {"iterations", time->iterations}};
}

Json as_json(const std::optional<Cost>& cost) {
  if (!cost) return {};
  return {{"steps", cost->steps}, {"bytes", cost->bytes}, {"reduced", cost->reduced}};
}

Json as_json(const std::optional<RowFailure>& failure) {
  if (!failure) return {};
  return {{"kind", failure->kind},
          {"message", failure->message},
          {"file", failure->file},
          {"line", failure->line}};
}

Json as_json(const Row& row) {
  const bool has_time = row.time.has_value();
  const auto gigabytes = [&](double value) { return has_time ? Json(value / kGiga) : Json(); };
  return {{"collective", name_of(row.collective)},
          {"algorithm", row.algorithm},
          {"whose", name_of(row.whose)},
          {"op", name_of(row.op)},
          {"root", row.root},
          {"ranks", row.world_size},
          {"bytes", row.bytes},
          {"count", row.elements},
          {"time_us", as_json(row.time)},
          {"latency_us", has_time ? Json(row.latency_seconds * kMicro) : Json()},
          {"p99_us", has_time ? Json(row.p99_seconds * kMicro) : Json()},
          {"mean_us", row.mean_seconds ? Json(*row.mean_seconds * kMicro) : Json()},
          {"vs_native", has_time ? Json(row.vs_native) : Json()},
          {"vs_ring", row.vs_ring ? Json(*row.vs_ring) : Json()},
          {"algbw_gbps",
           has_time ? gigabytes(static_cast<double>(row.bytes) / row.time->median) : Json()},
          {"busbw_gbps", gigabytes(row.bus_bandwidth())},
          {"virtual_us", row.virtual_seconds ? Json(*row.virtual_seconds * kMicro) : Json()},
          {"virtual_busbw_gbps",
           row.virtual_seconds ? Json(row.virtual_bus_bandwidth() / kGiga) : Json()},
          {"cost", as_json(row.cost)},
          {"wrong", row.wrong ? Json(*row.wrong) : Json()},
          {"failure", as_json(row.failure)},
          {"skipped", row.skipped.empty() ? Json() : Json(row.skipped)}};
}

Json as_json(const Device& device) {
  return {{"host", device.host},
          {"pid", device.process},
          {"device", device.number},
          {"bus", device.bus},
          {"name", device.name}};
}

/// Returns variables that affect the measurement.
std::vector<std::string> relevant_environment() {
  constexpr std::string_view kPrefixes[] = {"NCCL_",     "CUDA_",         "NVIDIA_VISIBLE_DEVICES=",
                                            "OMPI_MCA_", "SLURM_NNODES=", "SLURM_NTASKS=",
                                            "MASTER_",   "UCX_",          "RANKBOX_GPU",
                                            "FI_"};
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (std::ranges::any_of(kPrefixes,
                            [text](std::string_view prefix) { return text.starts_with(prefix); })) {
      variables.emplace_back(text);
    }
  }
  std::ranges::sort(variables);
  return variables;
}

}  // namespace

nlohmann::ordered_json to_json(const Plan& plan, const std::vector<Row>& rows,
                               const Occasion& occasion) {
  Json results = Json::array();
  for (const Row& row : rows) results.push_back(as_json(row));
  Json devices = Json::array();
  for (const Device& device : occasion.devices) devices.push_back(as_json(device));
  return {{"version", 1},
          {"backend", occasion.backend},
          {"collective", plan.collectives.size() == 1 ? name_of(plan.collectives.front()) : "all"},
          {"op", name_of(plan.ops.front())},
          {"dtype", name_of(Tensor::dtype())},
          {"cores", std::thread::hardware_concurrency()},
          {"executor", plan.executor},
          {"virtual", plan.without_data},
          {"cluster", as_json(plan.cluster)},
          {"note", note_on_native(plan, rows)},
          {"started", occasion.started},
          {"arguments", occasion.arguments},
          {"environment", relevant_environment()},
          {"devices", std::move(devices)},
          {"average_busbw_gbps",
           plan.without_data ? Json() : Json(average_bus_bandwidth(rows) / kGiga)},
          {"results", std::move(results)}};
}

void write_json(const nlohmann::ordered_json& report, const std::string& path) {
  // The user's arguments may hold any bytes.
  const std::string text =
      report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (path == "-") {
    fmt::print("{}", text);
  } else {
    write_file(path, text);
  }
}

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  return text.data();
}

double average_bus_bandwidth(const std::vector<Row>& rows) {
  double sum = 0;
  int count = 0;
  for (const Row& row : rows) {
    if (row.bytes == 0 || !row.time) continue;
    sum += row.bus_bandwidth();
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

}  // namespace rankbox::cli
