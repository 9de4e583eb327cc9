#include "training/data/digits.h"

#include <algorithm>
#include <cmath>

#include "training/data/digit_strokes.h"
#include "training/random.h"

namespace rankbox {
namespace {

constexpr int kSide = 28;  // pixels
constexpr double kMiddle = (kSide - 1) / 2.0;
constexpr double kDigit = 19;       // pixels: of a digit of average size
constexpr double kUnsteady = 0.05;  // of the digit's size: the jitter of points
constexpr double kNoise = 0.10;     // of full ink

using Ink = std::vector<double>;  // [kSide, kSide], 0 … 1

/// Cuts every corner at a quarter (Chaikin 1974): repeated, a curve. The ends stay.
Stroke smoothed(const Stroke& stroke) {
  Stroke smooth = {stroke.front()};
  for (std::size_t i = 0; i + 1 < stroke.size(); ++i) {
    const Point a = stroke[i], b = stroke[i + 1];
    smooth.push_back({.75 * a.x + .25 * b.x, .75 * a.y + .25 * b.y});
    smooth.push_back({.25 * a.x + .75 * b.x, .25 * a.y + .75 * b.y});
  }
  smooth.push_back(stroke.back());
  return smooth;
}

double distance(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y;
  const double length = dx * dx + dy * dy;
  const double along = length == 0 ? 0 : ((p.x - a.x) * dx + (p.y - a.y) * dy) / length;
  const double at = std::clamp(along, 0.0, 1.0);
  const double x = p.x - a.x - at * dx, y = p.y - a.y - at * dy;
  return std::sqrt(x * x + y * y);
}

/// Draws a line from a to b (in pixels) with a round pen: full ink within its radius, none a pixel
/// further out.
void draw_line(Ink& ink, Point a, Point b, double radius) {
  const auto pixel = [](double at) {
    return static_cast<int>(std::clamp(at, 0.0, double{kSide - 1}));
  };
  const double reach = radius + 1;
  for (int row = pixel(std::min(a.y, b.y) - reach); row <= pixel(std::max(a.y, b.y) + reach);
       ++row) {
    for (int column = pixel(std::min(a.x, b.x) - reach);
         column <= pixel(std::max(a.x, b.x) + reach); ++column) {
      const double covered = radius + .5 - distance({double(column), double(row)}, a, b);
      double& there = ink[static_cast<std::size_t>(row) * kSide + static_cast<std::size_t>(column)];
      there = std::max(there, std::clamp(covered, 0.0, 1.0));
    }
  }
}

/// Maps the points of a digit onto the image: one affine map for all of them.
struct Placement {
  double xx, xy, yx, yy, x, y;

  explicit Placement(Random& random)
      : xx(random.uniform(.65, 1.15)),
        xy(random.uniform(-.45, .35)),  // people slant to the right rather than to the left
        yx(random.uniform(-.2, .2)),
        yy(random.uniform(.75, 1.15)),
        x(random.uniform(-2.5, 2.5)),
        y(random.uniform(-2.5, 2.5)) {}

  Point of(Point p) const {
    const double u = kDigit * (p.x - .5), v = kDigit * (p.y - .5);
    return {kMiddle + x + xx * u + xy * v, kMiddle + y + yx * u + yy * v};
  }
};

Ink draw(int digit, Random random) {
  const std::vector<Handwriting>& ways = ways_to_write(digit);
  const Handwriting& way =
      ways[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(ways.size())))];
  const Placement placement(random);
  const double radius = random.uniform(.5, 1.5);
  Ink ink(kSide * kSide, 0.0);
  for (Stroke stroke : way) {
    for (Point& point : stroke) {
      point = placement.of({point.x + random.uniform(-kUnsteady, kUnsteady),
                            point.y + random.uniform(-kUnsteady, kUnsteady)});
    }
    stroke = smoothed(smoothed(stroke));
    for (std::size_t i = 0; i + 1 < stroke.size(); ++i)
      draw_line(ink, stroke[i], stroke[i + 1], radius);
  }
  const double strength = random.uniform(.6, 1);
  for (double& there : ink) there = strength * there + kNoise * random.normal();
  return ink;
}

}  // namespace

Images draw_digits(std::int64_t count, std::uint64_t seed, std::vector<std::uint8_t>& labels) {
  Images images{kSide, kSide};
  labels.clear();
  const Random random(seed);
  for (std::int64_t i = 0; i < count; ++i) {
    Random of_digit = random.stream(static_cast<std::uint64_t>(i));
    const auto digit = static_cast<int>(of_digit.below(10));
    labels.push_back(static_cast<std::uint8_t>(digit));
    for (const double there : draw(digit, of_digit))
      images.pixels.push_back(
          static_cast<std::uint8_t>(std::lround(std::clamp(there, 0.0, 1.0) * 255)));
  }
  return images;
}

Split digits(const DigitsOptions& options) {
  const auto part = [&](std::int64_t count, std::string_view name) {
    std::vector<std::uint8_t> labels;
    const std::uint64_t seed = Random(options.seed).stream(name).at(0);
    const Images images = draw_digits(count, seed, labels);
    return image_dataset(images, labels);
  };
  return {part(options.train, "train"), part(options.test, "test")};
}

}  // namespace rankbox
