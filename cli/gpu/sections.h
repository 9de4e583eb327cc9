// The sections of the report, in their order.
#pragma once

#include <string>
#include <vector>

#include "cli/gpu/session.h"

namespace rankbox::cli {

struct Section {
  std::string name;   // for --only
  std::string title;  // for the text
  double seconds;     // its share of the 600 of the whole report
  void (*run)(Session&);
};
const std::vector<Section>& sections();

/// Returns "CUDA_VISIBLE_DEVICES=N" with one GPU.
std::string only_first_gpu();

// Each adds its lines, in the time of Session::begin.
/// @param mode how ranks are assigned to GPUs, as a command without a program
void check_contract(Session& session, Command mode);
void measure_kernels(Session& session);
void measure_sharing_ring(Session& session);  // after measure_kernels
void measure_collectives(Session& session);
void measure_ring(Session& session);
void measure_training(Session& session);
void check_memory_accesses(Session& session);

}  // namespace rankbox::cli
