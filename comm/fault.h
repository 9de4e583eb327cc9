// Fault injection (RunOptions::faults).
#pragma once

#include <cstdint>
#include <vector>

#include "comm/call_checks.h"
#include "comm/run_options.h"

namespace rankbox {

/// Injects the faults of the caller's `operation`-th call, from 0: sleeps, or throws InjectedCrash.
void let_faults_happen(const std::vector<Fault>& faults, const Caller& caller,
                       std::int64_t operation);

}  // namespace rankbox
