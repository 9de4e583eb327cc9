// A comparison as tables and sentences.
#pragma once

#include <string>
#include <vector>

#include "cli/compare/measure/devices.h"
#include "cli/compare/plan/plan.h"

namespace rankbox::cli {

/// Returns the lines above the tables that describe the backend and its devices; they begin with
/// "#". Empty in the sandbox.
/// @param backend the lines of describe_backend()
std::string format_header(const std::vector<std::string>& backend,
                          const std::vector<Device>& devices);

/// Returns the explanation of the columns, printed once above the tables.
/// @param has_ring there may be a column `vs ring`
std::string legend(const Plan& plan, bool has_ring);

/// Returns the rows of one contest as aligned lines under a heading. A mark beside the virtual time
/// shows the fastest topology on the cluster; a mark on the left shows the fastest on this machine,
/// if it has a core for each rank.
std::string format_contest(const Plan& plan, const std::vector<Row>& contest, bool colour);

/// Returns the winners and crossover sizes: one line per collective, world size and clock. Takes
/// the rows of several worlds. Has no winner on this machine where ranks outnumber its cores.
std::string format_winners(const Plan& plan, const std::vector<Row>& rows);

/// Returns what `time` measures where ranks outnumber cores; "" if no such world was timed.
std::string note_on_cores(const Plan& plan, const std::vector<Row>& rows);

/// Returns why a topology may be ahead of native on a cluster whose native times are measured ones;
/// "" if none is.
std::string note_on_native(const Plan& plan, const std::vector<Row>& rows);

}  // namespace rankbox::cli
