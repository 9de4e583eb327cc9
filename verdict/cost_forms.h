// The closed forms of costs by name, as exercises/registry.toml names them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "comm/run_options.h"
#include "verdict/subject.h"

namespace rankbox {

/// One more number decides: of segments, or of nodes.
using CostFormOfParts = Cost (*)(int world_size, std::int64_t elements, std::int64_t element_bytes,
                                 int parts);

struct NamedCostForm {
  std::string_view name;
  std::variant<CostForm, CostFormOfParts> form;
};

const std::vector<NamedCostForm>& cost_forms();

/// Returns null if there is no form of this name and type.
template <class Form>
Form find_cost_form(std::string_view name) {
  for (const NamedCostForm& each : cost_forms()) {
    if (each.name != name) continue;
    if (const Form* form = std::get_if<Form>(&each.form)) return *form;
  }
  return nullptr;
}

/// The names of this type's forms, and what else stands for a cost: for messages.
template <class Form>
std::vector<std::string> cost_form_names() {
  std::vector<std::string> names;
  for (const NamedCostForm& each : cost_forms()) {
    if (std::holds_alternative<Form>(each.form)) names.emplace_back(each.name);
  }
  return names;
}

}  // namespace rankbox
