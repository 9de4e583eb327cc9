#include "parallel/shard.h"

#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox {

namespace {

std::int64_t elements_in(const std::vector<Shape>& shapes) {
  std::int64_t elements = 0;
  for (const Shape& shape : shapes) elements += shape.elements();
  return elements;
}

void check_fit(const std::vector<Parameter*>& parameters, const Shard& shard, const Tensor& flat) {
  if (shard.shapes.size() != parameters.size()) {
    throw InvalidArgument(fmt::format("shard: it is one of {} parameters, and {} were given",
                                      shard.shapes.size(), parameters.size()));
  }
  const std::int64_t elements = elements_in(shard.shapes);
  if (elements <= flat.size()) return;
  throw InvalidArgument(fmt::format(
      "shard: {} elements of the parameters do not fit into a flat tensor of {}: it needs "
      "world_size times the shard's",
      elements, flat.size()));
}

}  // namespace

std::int64_t shard_size(std::int64_t elements, int world_size) {
  return (elements + world_size - 1) / world_size;
}

Shard make_shard(const std::vector<Parameter*>& parameters, int rank, int world_size) {
  const std::int64_t size = shard_size(count_elements(parameters), world_size);
  Shard shard;
  shard.mine.name = "shard";
  Tensor flat = zeros(size * world_size);
  std::int64_t begin = 0;
  for (const Parameter* parameter : parameters) {
    shard.shapes.push_back(parameter->value.shape());
    copy(Slice(flat).sub(begin, begin + parameter->value.size()), parameter->value);
    begin += parameter->value.size();
  }
  shard.mine.value = Tensor(Shape(size));
  copy(shard.mine.value, chunk(flat, rank, world_size));
  return shard;
}

std::vector<Parameter*> mine_of(std::vector<Shard>& shards) {
  std::vector<Parameter*> all;
  for (Shard& shard : shards) {
    if (!shard.mine.value.empty()) all.push_back(&shard.mine);
  }
  return all;
}

Tensor flat_for(const Shard& shard, int world_size) {
  return Tensor(Shape(shard.mine.value.size() * world_size));
}

void pack_gradients(const std::vector<Parameter*>& parameters, const Shard& shard, Tensor& flat) {
  check_fit(parameters, shard, flat);
  detail::fill(flat, 0.0);
  std::int64_t begin = 0;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const std::int64_t end = begin + shard.shapes[k].elements();
    const Tensor& gradient = parameters[k]->gradient;
    if (!gradient.empty()) copy(Slice(flat).sub(begin, end), gradient);
    begin = end;
  }
}

void unpack_values(const Tensor& flat, const Shard& shard,
                   const std::vector<Parameter*>& parameters) {
  check_fit(parameters, shard, flat);
  std::int64_t begin = 0;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    Tensor& value = parameters[k]->value;
    if (value.empty()) value = Tensor(shard.shapes[k]);
    copy(value, Slice(flat).sub(begin, begin + value.size()));
    begin += value.size();
  }
}

void drop_gradients(const std::vector<Parameter*>& parameters) {
  for (Parameter* parameter : parameters) parameter->gradient = {};
}

void drop_values(const std::vector<Parameter*>& parameters) {
  for (Parameter* parameter : parameters) parameter->value = {};
}

}  // namespace rankbox
