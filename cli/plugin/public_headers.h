// The headers that a learner's file may include: the contracts and what they are made of.
#pragma once

#include <string>
#include <vector>

namespace rankbox::cli {

/// The folders whose headers are public. Those that they include are public too.
std::vector<std::string> public_folders();

/// Copies the public headers of the project into `folder`, laid out as in the project: what is not
/// there cannot be included from there. Throws std::system_error.
void copy_public_headers(const std::string& folder);

}  // namespace rankbox::cli
