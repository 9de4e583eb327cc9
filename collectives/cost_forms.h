// The closed forms of costs by name, as exercises/registry.toml names them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "comm/run_options.h"

namespace rankbox::cost {

/// A cost that depends on neither the root nor the operation.
using Form = Cost (*)(int world_size, std::int64_t elements, std::int64_t element_bytes);

/// A cost that also depends on the number of segments or of nodes.
using FormOfParts = Cost (*)(int world_size, std::int64_t elements, std::int64_t element_bytes,
                             int parts);

struct NamedForm {
  std::string_view name;
  std::variant<Form, FormOfParts> form;
};

const std::vector<NamedForm>& named_forms();

/// Returns null if there is no form of this name and type.
template <class F>
F find_form(std::string_view name) {
  for (const NamedForm& each : named_forms()) {
    if (each.name != name) continue;
    if (const F* form = std::get_if<F>(&each.form)) return *form;
  }
  return nullptr;
}

/// The names of this type's forms, and the other words that stand for a cost; for messages.
template <class F>
std::vector<std::string> form_names() {
  std::vector<std::string> names;
  for (const NamedForm& each : named_forms()) {
    if (std::holds_alternative<F>(each.form)) names.emplace_back(each.name);
  }
  return names;
}

}  // namespace rankbox::cost
