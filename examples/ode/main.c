/* Simulates noisy counts of hares and lynxes over twenty years and finds the
 * parameters of the equations behind them.
 *
 * Usage: main [--seed N] [--threads N]
 */
#include "example.h"
#include "ode.h"
#include "sha256.h"
#include <math.h>

enum { PARAMETERS = 6 };

static const char *const names[PARAMETERS] = {
    "birth of hares", "hares eaten", "death of lynxes",
    "gain of lynxes", "first hares", "first lynxes"};

/* A line for each parameter; gives the largest relative error. */
static double print_parameters(const double *found, const double *truth) {
  double worst = 0;
  for (int i = 0; i < PARAMETERS; ++i) {
    printf("ode: %-15s %.4f, in truth %.4f\n", names[i], found[i], truth[i]);
    worst = fmax(worst, fabs(found[i] / truth[i] - 1));
  }
  return worst;
}

int main(int argc, char **argv) {
  long seed = example_number(argc, argv, "seed", "1");
  example_t e = example_open(example_number(argc, argv, "threads", "1"));
  ode_module_t ode;
  astra_tensor_t counts, true_values, found_values, loss, steps;
  double truth[PARAMETERS], found[PARAMETERS], rest;
  int64_t taken;
  char digest[65];
  sha256_t hash;
  CHECK(ode_link(e.runtime, &ode, &error));
  CHECK(ode_observe(&ode, e.stream, seed, &counts, &error));
  printf("ode: fitting %d parameters to noisy counts of 20 years\n",
         PARAMETERS);
  CHECK(ode_fit(&ode, e.stream, counts, &found_values, &loss, &steps, &error));
  CHECK(ode_truth(&ode, e.stream, &true_values, &error));
  example_take(&e, true_values, truth, sizeof truth);
  example_take(&e, found_values, found, sizeof found);
  example_take(&e, loss, &rest, sizeof rest);
  example_take(&e, steps, &taken, sizeof taken);
  double worst = print_parameters(found, truth);
  sha256_start(&hash);
  sha256_add(&hash, found, sizeof found);
  sha256_finish(&hash, digest);
  printf("ode: after %lld steps all parameters within %.1f percent of the "
         "truth, remaining error %.2f percent, parameters sha256 %s\n",
         (long long)taken, 100 * worst, 100 * sqrt(rest), digest);
  CHECK(astra_tensor_release(e.runtime, counts, &error));
  ode_release(&ode);
  example_close(&e);
  return 0;
}
