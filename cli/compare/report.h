// A comparison as a table for people, in words, and as JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/compare/measure.h"

namespace rankbox::cli {

/// What the columns mean, once, above the tables.
std::string legend(const Plan& plan);

/// The rows of one world size, as aligned lines of at most 100 columns, under a heading per
/// collective and size. The topology that is fastest on this machine is marked on the left, the one
/// on the cluster beside its virtual time.
std::string format_table(const Plan& plan, const std::vector<Row>& rows, bool colour);

/// Who won, and where one overtakes another: one line per collective, world size and clock. Takes
/// the rows of several worlds.
std::string format_winners(const Plan& plan, const std::vector<Row>& rows);

/// {version, backend, collective, op, dtype, cores, cluster{}, results[]}.
nlohmann::ordered_json to_json(const Plan& plan, const std::vector<Row>& rows);

}  // namespace rankbox::cli
