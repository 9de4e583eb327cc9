// Who takes part in a star, and where it meets.
#pragma once

#include <string>

#include "launch/environment.h"
#include "launch/meeting_point.h"
#include "launch/rank_variables.h"

namespace rankbox::launcher {

struct StarOptions {
  int rank = 0;
  int world_size = 1;
  MeetingPoint at = {"127.0.0.1", kDefaultPort, "the default"};
  std::string job;      // the same on all ranks of a job; others are refused
  double seconds = 30;  // for the start, and for every collective that does not say otherwise
};

/// What the launcher's variables say. Throws InvalidArgument as meeting_point() does.
inline StarOptions star_options(const RankVariables& who,
                                const Environment& environment = process_environment()) {
  StarOptions options;
  options.rank = who.rank;
  options.world_size = who.world_size;
  options.job = who.job;
  options.at = meeting_point(who, environment);
  return options;
}

}  // namespace rankbox::launcher
