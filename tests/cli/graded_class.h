// A class in the test's project, and what its report says.
#pragma once

#include <set>
#include <string>

#include <nlohmann/json.hpp>

namespace rankbox {

/// Returns the text of an exercise's solution.
std::string solution(const std::string& name);

/// Adds a file to a class below the project's tmp/.
void hand_in(const std::string& path, const std::string& text);

/// Returns the absolute path of a file or folder there.
std::string path_of(const std::string& name);

/// Returns the report that `grade --format json` printed. Lines about progress may precede it.
nlohmann::json report_in(const std::string& output);

/// Returns "ada exchange pass", … of a report in JSON.
std::set<std::string> statuses(const nlohmann::json& report);

}  // namespace rankbox
