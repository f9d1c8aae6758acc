// astra-ulp: measures the elementary functions against independent references
// and prints, a function a line, the greatest error in ulp and where it is, how
// many neighbours are in the wrong order and how many arguments break the
// symmetry.
#include "kernels/math/ulp/Reference.h"
#include "kernels/math/ulp/Sweep.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace astra::ulp;

namespace {
struct Options {
  std::string function, type;
  bool exhaustive = false;
  uint64_t stride = 997, samples = 20000, seed = 1;
  unsigned jobs = 1;
};
} // namespace

static const char Usage[] =
    "usage: astra-ulp [--function NAME] [--type f32|f64] [--exhaustive]\n"
    "                 [--stride N] [--samples N] [--seed N] [--jobs N]\n"
    "  --exhaustive  f32: every argument (functions of one argument)\n"
    "  --stride N    f32: every N-th argument (default 997)\n"
    "  --samples N   f64, and functions of two arguments: how many arguments\n"
    "                (default 20000; a hundred times that in f32; a tenth\n"
    "                for each order of functions with an order)\n"
    "  --seed N      of the samples (default 1)\n"
    "  --jobs N      threads (default 1)\n";

static bool parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i];
    if (name == "--exhaustive") {
      options.exhaustive = true;
      options.stride = 1;
      continue;
    }
    if (++i == argc)
      return false;
    if (name == "--function")
      options.function = argv[i];
    else if (name == "--type")
      options.type = argv[i];
    else if (name == "--stride")
      options.stride = strtoull(argv[i], nullptr, 10);
    else if (name == "--samples")
      options.samples = strtoull(argv[i], nullptr, 10);
    else if (name == "--seed")
      options.seed = strtoull(argv[i], nullptr, 10);
    else if (name == "--jobs")
      options.jobs = unsigned(strtoul(argv[i], nullptr, 10));
    else
      return false;
  }
  bool typeKnown =
      options.type.empty() || options.type == "f32" || options.type == "f64";
  return typeKnown && options.stride > 0 && options.jobs > 0;
}

/// Prints one line; whether the function keeps its bound, order and symmetry.
static bool report(const char *name, const char *type, const Worst &worst,
                   double bound, bool two) {
  if (!worst.known) {
    printf("%-12s %s  not measured: built without MPFR\n", name, type);
    return true;
  }
  bool good =
      worst.error <= bound && worst.descents == 0 && worst.asymmetric == 0;
  printf("%-12s %s  %7.4f ulp at %-16.9g", name, type, worst.error, worst.x);
  if (two)
    printf(" %-16.9g", worst.y);
  printf(" (%a -> %a)  of %llu", worst.x, worst.result,
         (unsigned long long)worst.arguments);
  if (worst.descents)
    printf("  DESCENTS %llu", (unsigned long long)worst.descents);
  if (worst.asymmetric)
    printf("  ASYMMETRIC %llu", (unsigned long long)worst.asymmetric);
  printf("%s\n", good ? "" : "  OVER THE BOUND");
  fflush(stdout);
  return good;
}

static bool wanted(const std::string &choice, const char *value) {
  return choice.empty() || choice == value;
}

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    fputs(Usage, stderr);
    return 2;
  }
  bool good = true, any = false;
  for (const Case *c = Cases; c->name; ++c) {
    if (!wanted(options.function, c->name))
      continue;
    any = true;
    if (wanted(options.type, "f32"))
      good &=
          report(c->name, "f32", sweepSingle(*c, options.stride, options.jobs),
                 c->bound32, false);
    if (wanted(options.type, "f64"))
      good &= report(c->name, "f64",
                     sampleDouble(*c, options.samples, options.seed),
                     c->bound64, false);
  }
  for (const OrderedCase *c = OrderedCases; c->name; ++c) {
    if (!wanted(options.function, c->name))
      continue;
    any = true;
    for (int64_t order : Orders) {
      if (order < c->first)
        continue;
      uint64_t samples = options.samples / 10;
      if (wanted(options.type, "f32"))
        good &= report(c->name, "f32",
                       sampleOrderedSingle(*c, order, samples, options.seed),
                       c->bound32, true);
      if (wanted(options.type, "f64"))
        good &= report(c->name, "f64",
                       sampleOrderedDouble(*c, order, samples, options.seed),
                       c->bound64, true);
    }
  }
  for (const char *name : {"pow", "atan2"}) {
    if (!wanted(options.function, name))
      continue;
    any = true;
    if (wanted(options.type, "f32"))
      good &= report(name, "f32",
                     sampleSingle2(name, 100 * options.samples, options.seed),
                     2, true);
    if (wanted(options.type, "f64"))
      good &=
          report(name, "f64",
                 sampleDouble2(name, options.samples, options.seed), 2, true);
  }
  if (!any) {
    fprintf(stderr, "astra-ulp: no function named '%s'\n",
            options.function.c_str());
    return 2;
  }
  return good ? 0 : 1;
}
