// A subject whose promised cost is what the reference solution costs.
#pragma once

#include <memory>

#include "verdict/subject.h"

namespace rankbox {

/// `subject`, but its cost is that of `solution` on the sandbox's clock, case by case.
///
/// @param solution the same family's subject of the reference solution; null: there is no promise
std::unique_ptr<Subject> with_cost_of(std::unique_ptr<Subject> solution,
                                      std::unique_ptr<Subject> subject);

}  // namespace rankbox
