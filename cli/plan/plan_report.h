// A plan as text and as JSON.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/plan/search.h"

namespace rankbox::plan {

/// What is printed.
struct Report {
  Task task;
  std::size_t layouts = 0;  // that were priced
  std::size_t fit = 0;
  std::vector<Estimate> best;  // of each kind, the fastest first; if none fits, the smallest first
  std::vector<Use> uses;       // the best use of each strategy
};

/// @param top how many kinds
Report report_of(const Task& task, const std::vector<Estimate>& all, std::size_t top);

std::string report_text(const Report& report);
nlohmann::ordered_json report_json(const Report& report);

}  // namespace rankbox::plan
