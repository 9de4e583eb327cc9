// PictureStyle as JSON: how one process hands it to another.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/picture/run_picture.h"

namespace rankbox::cli {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PictureStyle, folder, columns, ascii, colour, trace, html)

}  // namespace rankbox::cli
