// Which of a subject's cases the judge runs, and how often.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "judge/case.h"
#include "judge/subject.h"

namespace rankbox {

/// Returns the cases that are judged here; of a replay, that one. Throws InvalidArgument for a
/// replay that is no case of the subject.
std::vector<Case> cases_of(const Subject& subject, const std::string& replay);

/// The same of Subject::far_cases; a replay has none.
std::vector<Case> far_cases_of(const Subject& subject, const std::string& replay);

/// Returns the cases of one world for several calls: the first with elements, the last one, and the
/// first again, all on as many nodes.
std::vector<Case> some_of_world(const std::vector<Case>& cases, int world_size);

/// Returns whether case i is the first of its world size, or the first of it with elements.
bool is_smallest(const std::vector<Case>& cases, std::size_t i);

}  // namespace rankbox
