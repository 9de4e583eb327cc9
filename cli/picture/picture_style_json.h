// PictureStyle as JSON, to pass it to another process.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/picture/run_picture.h"

namespace rankbox::cli {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PictureStyle, folder, columns, ascii, colour, timeline, waits,
                                   trace, html, svg, goal)

}  // namespace rankbox::cli
