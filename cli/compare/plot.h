// `--plot` of compare and plan: a result drawn by a script with matplotlib.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace rankbox::cli {

/// Throws InvalidArgument unless `path` ends in .svg, .png or .pdf and can be written, and Error
/// if no python3 has matplotlib. Call it before measuring, which may take minutes.
void check_plottable(const std::string& path);

/// Writes the plot to `path`. Blocks for a second or two. Throws Error with the reason, and leaves
/// `path` unchanged.
/// @param result what `script`, a path in the project, draws; for plot.py a comparison in the
/// format of report_json.h
void plot(const nlohmann::ordered_json& result, const std::string& path,
          const std::string& script = "cli/compare/plot.py");

}  // namespace rankbox::cli
