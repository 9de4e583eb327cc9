// The files of sim/clusters/presets, embedded at build time.
#pragma once

#include <vector>

namespace rankbox {

struct PresetFile {
  const char* path;
  const char* text;
};

/// In the order of sim/clusters/BUILD.bazel.
const std::vector<PresetFile>& preset_files();

}  // namespace rankbox
