// The two notations for lists that Slurm leaves in the environment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankbox::launcher {

/// "node[03-05,9],login" -> "node03"; "rack[2-3]n[07-09]-ib" -> "rack2n07-ib". Throws
/// InvalidArgument, naming `variable`, for what is no such list.
std::string first_host(std::string_view hosts, const std::string& variable);

/// "2(x3),1" -> 2, 2, 2, 1. Throws InvalidArgument, naming `variable`, for what is no such list.
std::vector<int> tasks_per_node(std::string_view counts, const std::string& variable);

}  // namespace rankbox::launcher
