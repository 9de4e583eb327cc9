// A comparison as tables and sentences.
#pragma once

#include <string>
#include <vector>

#include "cli/compare/measure/devices.h"
#include "cli/compare/plan/plan.h"

namespace rankbox::cli {

/// The backend and its devices, above the tables: lines that begin with "#". Empty in the sandbox.
/// @param backend the lines of describe_backend()
std::string format_header(const std::vector<std::string>& backend,
                          const std::vector<Device>& devices);

/// What the columns mean, once, above the tables.
std::string legend(const Plan& plan);

/// The rows of one contest as aligned lines under a heading. The topology that is fastest on this
/// machine is marked on the left, the one on the cluster beside its virtual time.
std::string format_contest(const Plan& plan, const std::vector<Row>& contest, bool colour);

/// Who won, and where one overtakes another: one line per collective, world size and clock. Takes
/// the rows of several worlds.
std::string format_winners(const Plan& plan, const std::vector<Row>& rows);

}  // namespace rankbox::cli
