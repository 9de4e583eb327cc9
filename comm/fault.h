// Misfortunes that a run was asked to rehearse (RunOptions::faults).
#pragma once

#include <cstdint>
#include <vector>

#include "comm/call_checks.h"
#include "comm/run_options.h"

namespace rankbox {

/// At the beginning of the caller's `operation`-th call, counted from 0: sleeps or throws Error, if
/// that was planned.
void let_faults_happen(const std::vector<Fault>& faults, const Caller& caller,
                       std::int64_t operation);

}  // namespace rankbox
