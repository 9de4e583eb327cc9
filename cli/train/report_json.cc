#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/train/backend.h"
#include "cli/train/report.h"

namespace rankbox::train {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Evaluation& metrics) {
  // There was no evaluation.
  if (metrics.samples == 0) return nullptr;
  return {{"loss", metrics.loss},
          {"accuracy", metrics.accuracy},
          {"f1", metrics.f1},
          {"samples", metrics.samples}};
}

Json json_of(const std::vector<EpochRecord>& epochs) {
  Json all = Json::array();
  for (const EpochRecord& epoch : epochs) {
    all.push_back({{"epoch", epoch.epoch},
                   {"steps", epoch.steps},
                   {"loss", epoch.train_loss},
                   {"test", json_of(epoch.test)},
                   {"seconds", epoch.train_seconds},
                   {"samples_per_second", epoch.samples_per_second}});
  }
  return all;
}

}  // namespace

std::string to_json(const Plan& plan, const Task& task, const Record& record,
                    const Outcome& outcome) {
  Json json;
  json["model"] = plan.model;
  json["sizes"] = task.model_name;
  json["parameters"] = outcome.parameters;
  json["backend"] = backend_name();
  json["strategy"] = plan.strategy;
  json["ranks"] = plan.ranks;
  json["nodes"] = plan.nodes;
  json["batch"] = plan.batch;
  json["accumulate"] = plan.accumulate;  // batches per step
  json["optimizer"] = name_of(plan.optimizer);
  json["learning_rate"] = plan.learning_rate;
  json["warmup_steps"] = plan.warmup_steps;
  json["decay"] = name_of(plan.decay);
  json["momentum"] = plan.optimizer == OptimizerKind::kSgd ? Json(plan.momentum) : Json(nullptr);
  json["weight_decay"] = plan.weight_decay;
  json["clip_norm"] = plan.clip_norm == 0 ? Json(nullptr) : Json(plan.clip_norm);
  json["precision"] = name_of(plan.precision);
  json["all_reduce"] = plan.all_reduce;
  json["bucket_mib"] = plan.bucket_mib == 0 ? Json(nullptr) : Json(plan.bucket_mib);
  json["overlap"] = plan.overlap;
  json["exercises"] = exercises_of(plan);  // whose functions the run calls
  json["yours"] = plan.yours;              // of these exercises
  json["seed"] = plan.seed;
  json["data"] = plan.data.empty() ? Json(nullptr) : Json(plan.data);
  json["train_samples"] = task.data.train.size();
  json["status"] = outcome.is_complete ? "complete" : "stopped";
  json["first_step"] = record.from().steps;
  json["steps"] = outcome.end.steps;
  json["epochs"] = json_of(record.epochs());
  json["test"] = json_of(outcome.test);
  const bool is_evaluated = outcome.test.samples > 0;
  json["metrics_step"] = is_evaluated ? Json(outcome.test_steps) : Json(nullptr);
  json["accuracy"] = is_evaluated ? Json(outcome.test.accuracy) : Json(nullptr);
  json["f1"] = is_evaluated ? Json(outcome.test.f1) : Json(nullptr);
  json["best"] = nullptr;
  if (outcome.best_steps > 0) {
    json["best"] = {{"by", name_of(plan.keep_best)},
                    {"steps", outcome.best_steps},
                    {"saved", plan.save + ".best"}};
  }
  // Of the final model, how many test samples each expert has.
  json["expert_loads"] = outcome.expert_loads.empty() ? Json(nullptr) : Json(outcome.expert_loads);
  json["losses"] = record.losses();  // of this run's steps, over the global batch
  json["seconds"] = record.seconds();
  json["samples_per_second"] = record.overall_samples_per_second();
  json["saved"] = plan.save.empty() ? Json(nullptr) : Json(plan.save);
  // Equal if two runs ended with the same bits.
  json["parameters_digest"] = fmt::format("{:016x}", outcome.digests.front());
  return json.dump() + "\n";
}

}  // namespace rankbox::train
