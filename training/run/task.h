// The trainable models, each with its data and default settings.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "training/data/dataset.h"
#include "training/run/plan.h"
#include "training/sequential.h"

namespace rankbox::train {

/// A model with its data.
struct Task {
  Split data;
  Model model;
  std::string model_name;    // with its sizes: "mlp 784-512-256-10"
  std::string data_name;     // "20000 digits, 2000 test samples"
  std::int64_t experts = 0;  // in a layer of experts; 0: there is none
};

struct ModelKind {
  std::string_view name;     // on the command line
  std::string_view summary;  // for --help
  // Defaults.
  std::int64_t epochs;
  std::int64_t batch;
  OptimizerKind optimizer;
  double sgd_rate;
  double adam_rate;
  /// Generates or reads the data. Throws InvalidArgument for data that cannot be read or does not
  /// fit the model.
  Task (*make)(const Plan& plan);

  double rate(OptimizerKind kind) const {
    return kind == OptimizerKind::kSgd ? sgd_rate : adam_rate;
  }
};

std::span<const ModelKind> model_kinds();

/// Throws InvalidArgument that lists the valid names.
const ModelKind& model_kind(std::string_view name);

/// Returns a digest of a dataset's samples and labels. Not negative.
std::int64_t digest_of(const Dataset& dataset);

}  // namespace rankbox::train
