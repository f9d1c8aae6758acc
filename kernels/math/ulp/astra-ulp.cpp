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
  bool exhaustive = false, table = false;
  uint64_t stride = 997, samples = 20000, seed = 1;
  unsigned jobs = 1;
};
} // namespace

static const char Usage[] =
    "usage: astra-ulp [--function NAME] [--type f32|f64|f16|bf16] "
    "[--exhaustive]\n"
    "                 [--stride N] [--samples N] [--seed N] [--jobs N] "
    "[--table]\n"
    "  --exhaustive  f32: every argument (functions of one argument)\n"
    "  --stride N    f32: every N-th argument (default 997)\n"
    "  --samples N   f64, and functions of two arguments: how many arguments\n"
    "                (default 20000; a hundred times that in f32; a tenth\n"
    "                for each order of functions with an order)\n"
    "  --seed N      of the samples (default 1)\n"
    "  --jobs N      threads (default 1)\n"
    "  --table       rows of the table in docs/elementary.md\n"
    "f16 and bf16 are always measured at every argument.\n";

static bool parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i];
    if (name == "--exhaustive") {
      options.exhaustive = true;
      options.stride = 1;
      continue;
    }
    if (name == "--table") {
      options.table = true;
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
  bool typeKnown = options.type.empty() || options.type == "f32" ||
                   options.type == "f64" || options.type == "f16" ||
                   options.type == "bf16";
  return typeKnown && options.stride > 0 && options.jobs > 0;
}

/// A row of the table in docs/elementary.md.
static void printRow(const char *name, const char *type, const Worst &worst,
                     bool two) {
  printf("| %s | %s | %.4f | %.9g", name, type, worst.error, worst.x);
  if (two)
    printf(", %.9g", worst.y);
  printf(" | %.4f | %llu |\n", 100.0 * worst.unrounded / worst.arguments,
         (unsigned long long)worst.arguments);
}

static void printLine(const char *name, const char *type, const Worst &worst,
                      bool two) {
  printf("%-12s %-4s  %7.4f ulp at %-16.9g", name, type, worst.error, worst.x);
  if (two)
    printf(" %-16.9g", worst.y);
  printf(" (%a -> %a)  of %llu, %.4f %% not the nearest", worst.x, worst.result,
         (unsigned long long)worst.arguments,
         100.0 * worst.unrounded / worst.arguments);
  if (worst.reference > 0)
    printf(", reference within %.1e", worst.reference);
}

namespace {
/// The measurements of one type are printed as they come; `good` tells whether
/// all functions keep their bound, order and symmetry.
struct Report {
  const Options &options;
  bool good = true;

  void add(const char *name, const char *type, const Worst &worst, double bound,
           bool two = false) {
    if (!worst.known) {
      printf("%-12s %-4s  not measured: built without MPFR\n", name, type);
      return;
    }
    bool fine = worst.error <= bound && !worst.descents && !worst.asymmetric;
    good &= fine;
    if (options.table)
      printRow(name, type, worst, two);
    else
      printLine(name, type, worst, two);
    if (worst.descents)
      printf("  DESCENTS %llu", (unsigned long long)worst.descents);
    if (worst.asymmetric)
      printf("  ASYMMETRIC %llu", (unsigned long long)worst.asymmetric);
    if (!fine)
      printf("  %s %s OVER THE BOUND", name, type);
    if (!options.table || !fine)
      printf("\n");
    fflush(stdout);
  }
};
} // namespace

static bool wanted(const std::string &choice, const char *value) {
  return choice.empty() || choice == value;
}

static void measureUnary(Report &report, const Case &c) {
  const Options &o = report.options;
  if (wanted(o.type, "f32"))
    report.add(c.name, "f32", sweepSingle(c, o.stride, o.jobs), c.bound32);
  if (wanted(o.type, "f64"))
    report.add(c.name, "f64", sampleDouble(c, o.samples, o.seed), c.bound64);
  // Two roundings: that of float, then that of the type.
  if (wanted(o.type, "f16"))
    report.add(c.name, "f16", sweepHalf(c, Format::F16), 0.51);
  if (wanted(o.type, "bf16"))
    report.add(c.name, "bf16", sweepHalf(c, Format::BF16), 0.51);
}

static void measureOrdered(Report &report, const OrderedCase &c) {
  const Options &o = report.options;
  for (int64_t order : Orders) {
    if (order < c.first)
      continue;
    if (wanted(o.type, "f32"))
      report.add(c.name, "f32",
                 sampleOrderedSingle(c, order, o.samples / 10, o.seed),
                 c.bound32, true);
    if (wanted(o.type, "f64"))
      report.add(c.name, "f64",
                 sampleOrderedDouble(c, order, o.samples / 10, o.seed),
                 c.bound64, true);
  }
}

static void measureBinary(Report &report, const char *name) {
  const Options &o = report.options;
  if (wanted(o.type, "f32"))
    report.add(name, "f32", sampleSingle2(name, 100 * o.samples, o.seed), 2,
               true);
  if (wanted(o.type, "f64"))
    report.add(name, "f64", sampleDouble2(name, o.samples, o.seed), 2, true);
}

int main(int argc, char **argv) {
  Options options;
  if (argc == 2 && strcmp(argv[1], "--help") == 0) {
    fputs(Usage, stdout);
    return 0;
  }
  if (!parse(argc, argv, options)) {
    fputs(Usage, stderr);
    return 2;
  }
  Report report{options};
  bool any = false;
  auto chosen = [&](const char *name) {
    bool is = wanted(options.function, name);
    any |= is;
    return is;
  };
  for (const Case *c = Cases; c->name; ++c)
    if (chosen(c->name))
      measureUnary(report, *c);
  for (const OrderedCase *c = OrderedCases; c->name; ++c)
    if (chosen(c->name))
      measureOrdered(report, *c);
  for (const char *name : {"pow", "atan2"})
    if (chosen(name))
      measureBinary(report, name);
  if (!any) {
    fprintf(stderr, "astra-ulp: no function named '%s'\n",
            options.function.c_str());
    return 2;
  }
  return report.good ? 0 : 1;
}
