// The files of clusters/presets, as they were when this was built.
#pragma once

#include <vector>

namespace rankbox {

struct PresetFile {
  const char* path;
  const char* text;
};

/// In the order of clusters/BUILD.bazel.
const std::vector<PresetFile>& preset_files();

}  // namespace rankbox
