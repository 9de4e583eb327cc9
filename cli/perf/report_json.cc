#include "cli/perf/report_json.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <string_view>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/compare/algorithms.h"
#include "cli/perf/backend.h"

namespace rankbox::perf {
namespace {

using Json = nlohmann::ordered_json;  // members in the order written here

constexpr int kFormatVersion = 1;
constexpr double kMicro = 1e6;
constexpr double kGiga = 1e9;

Json json_of(const std::vector<Device>& devices) {
  Json list = Json::array();
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    const Device& device = devices[rank];
    list.push_back({{"rank", rank},
                    {"group", 0},
                    {"pid", device.process},
                    {"hostname", device.host},
                    {"device", device.number},
                    {"device_hex", device.bus},
                    {"device_info", device.name}});
  }
  return list;
}

Json json_of(const Plan& plan) {
  Json config = {{"nthreads", plan.threads},
                 {"ngpus", plan.gpus_per_thread},
                 {"minimum_bytes", plan.min_bytes},
                 {"maximum_bytes", plan.max_bytes}};
  if (plan.step_factor > 0) {
    config["step_factor"] = plan.step_factor;
  } else {
    config["step_bytes"] = plan.step_bytes;
  }
  config["warmup_iters"] = plan.warmup;
  config["iterations"] = plan.iterations;
  config["aggregated_iterations"] = plan.aggregated;
  config["validation"] = plan.checks;
  config["graph"] = 0;
  return config;
}

Json json_of(const Row& row) {
  const Json measured = {{"time", row.seconds * kMicro},
                         {"alg_bw", row.algorithm_bandwidth() / kGiga},
                         {"bus_bw", row.bus_bandwidth() / kGiga},
                         {"nwrong", row.wrong ? Json(*row.wrong) : Json()}};
  const bool in_place = cli::is_in_place(row.collective);
  return {{"size", row.bytes},
          {"count", row.count},
          {"type", "float"},
          {"redop", redop_of(row)},
          {"root", row.root},
          {"out_of_place", in_place ? Json() : measured},
          {"in_place", in_place ? measured : Json()},
          {"collective", name_of(row.collective)},
          {"algorithm", row.algorithm},
          {"ranks", row.world_size},
          {"vs_native", row.vs_native},
          {"latency", row.latency_seconds * kMicro},
          {"virtual_us", row.virtual_seconds ? Json(*row.virtual_seconds * kMicro) : Json()}};
}

Json bandwidth_of(const Totals& totals) {
  Json average = {{"bandwidth", totals.average_bus_bandwidth / kGiga}};
  if (totals.least_bus_bandwidth < 0) {
    average["okay"] = "unchecked";
  } else {
    average["okay"] = totals.is_fast_enough();
  }
  Json algorithms = Json::array();
  for (const Totals::OfAlgorithm& each : totals.algorithms) {
    algorithms.push_back({{"collective", name_of(each.collective)},
                          {"algorithm", each.algorithm},
                          {"bandwidth", each.average_bus_bandwidth / kGiga}});
  }
  average["algorithms"] = std::move(algorithms);
  return average;
}

}  // namespace

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  return text.data();
}

std::vector<std::string> relevant_environment() {
  constexpr std::string_view kPrefixes[] = {"NCCL_",
                                            "CUDA_",
                                            "NVIDIA_VISIBLE_DEVICES=",
                                            "OMPI_COMM_WORLD_",
                                            "OMPI_MCA_",
                                            "PMI_RANK=",
                                            "PMI_SIZE=",
                                            "SLURM_JOB_ID=",
                                            "SLURM_NNODES=",
                                            "SLURM_NTASKS=",
                                            "SLURM_PROCID",
                                            "MASTER_",
                                            "RANKBOX_",
                                            "RANK=",
                                            "LOCAL_RANK=",
                                            "LOCAL_WORLD_",
                                            "WORLD_SIZE=",
                                            "UCX_",
                                            "FI_"};
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                    [text](std::string_view prefix) { return text.starts_with(prefix); })) {
      variables.emplace_back(text);
    }
  }
  std::sort(variables.begin(), variables.end());
  return variables;
}

std::string to_json(const Plan& plan, const std::vector<Device>& devices,
                    const std::vector<Row>& rows, const Totals& totals, const Occasion& occasion) {
  Json config = json_of(plan);
  config["devices"] = json_of(devices);  // where nccl-tests have them; below, where others look
  Json results = Json::array();
  for (const Row& row : rows) results.push_back(json_of(row));
  const Json report = {
      {"version", kFormatVersion},
      {"start_time", occasion.start_time},
      {"args", occasion.arguments},
      {"env", occasion.environment},
      {"nccl_version", nccl_version()},
      {"backend", {{"name", backend_name()}, {"info", backend_line()}}},
      {"cluster", plan.cluster.name},
      {"config", std::move(config)},
      {"devices", json_of(devices)},
      {"results", std::move(results)},
      {"out_of_bounds", {{"count", totals.out_of_bounds}, {"okay", totals.out_of_bounds == 0}}},
      {"average_bus_bandwidth", bandwidth_of(totals)},
      {"end_time", occasion.end_time}};
  // Arguments are the user's, and may be any bytes.
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rankbox::perf
