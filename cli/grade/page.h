// The grades of a class as one HTML page.
#pragma once

#include <string>

#include "cli/grade/class_report.h"

namespace rankbox::cli {

/// Returns a page for any browser, with nothing to load: a table of the class, how each exercise
/// went, every failure with its place, replay line and picture. All of it is reached with
/// the keyboard. Its own sources are in cli/grade/page/.
std::string page_of(const ClassReport& report);

}  // namespace rankbox::cli
