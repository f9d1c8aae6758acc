/* Draws points from a mixture of three normal distributions, fits a mixture to
 * them and says how well it found the true one.
 *
 * Usage: main [--seed N] [--threads N]
 */
#include "example.h"
#include "gmm.h"
#include "sha256.h"
#include <math.h>

enum { COMPONENTS = 3 };

typedef struct fitted {
  gmm_Mixture_3_2 mixture;
  double density;
  int64_t steps;
} fitted_t;

static fitted_t fit(example_t *e, gmm_module_t *gmm, astra_tensor_t x) {
  fitted_t fitted;
  astra_tensor_t density, steps;
  CHECK(gmm_fit(gmm, e->stream, x, &fitted.mixture, &density, &steps, &error));
  example_take(e, density, &fitted.density, sizeof fitted.density);
  example_take(e, steps, &fitted.steps, sizeof fitted.steps);
  return fitted;
}

/* A line for each component, and the hash of all parameters. */
static void print_mixture(example_t *e, gmm_Mixture_3_2 *mixture,
                          char *digest) {
  double logits[COMPONENTS], means[COMPONENTS][2], factors[COMPONENTS][2][2];
  double sum = 0;
  sha256_t hash;
  example_take(e, mixture->logits, logits, sizeof logits);
  example_take(e, mixture->means, means, sizeof means);
  example_take(e, mixture->factors, factors, sizeof factors);
  for (int c = 0; c < COMPONENTS; ++c)
    sum += exp(logits[c]);
  for (int c = 0; c < COMPONENTS; ++c)
    printf("gmm: component %d: weight %.3f, mean (%6.3f, %6.3f)\n", c + 1,
           exp(logits[c]) / sum, means[c][0], means[c][1]);
  sha256_start(&hash);
  sha256_add(&hash, logits, sizeof logits);
  sha256_add(&hash, means, sizeof means);
  sha256_add(&hash, factors, sizeof factors);
  sha256_finish(&hash, digest);
}

int main(int argc, char **argv) {
  long seed = example_number(argc, argv, "seed", "1");
  example_t e = example_open(example_number(argc, argv, "threads", "1"));
  gmm_module_t gmm;
  astra_tensor_t x, labels, weight, mean, density, assigned;
  double weight_error, mean_error, true_density;
  int64_t count, right;
  uint32_t rank;
  char digest[65];
  CHECK(gmm_link(e.runtime, &gmm, &error));
  CHECK(gmm_sample(&gmm, e.stream, seed, &x, &labels, &error));
  CHECK(astra_tensor_shape(e.runtime, labels, 1, &rank, &count, &error));
  printf("gmm: fitting %d components to %lld points\n", COMPONENTS,
         (long long)count);
  fitted_t fitted = fit(&e, &gmm, x);
  CHECK(gmm_errors(&gmm, e.stream, fitted.mixture, x, &weight, &mean, &density,
                   &error));
  CHECK(gmm_assigned(&gmm, e.stream, fitted.mixture, x, labels, &assigned,
                     &error));
  example_take(&e, weight, &weight_error, sizeof weight_error);
  example_take(&e, mean, &mean_error, sizeof mean_error);
  example_take(&e, density, &true_density, sizeof true_density);
  example_take(&e, assigned, &right, sizeof right);
  print_mixture(&e, &fitted.mixture, digest);
  printf("gmm: log density %.4f a point, %.4f under the true mixture\n",
         fitted.density, true_density);
  printf("gmm: after %lld steps weights within %.3f, means within %.3f of the "
         "truth, %lld of %lld points assigned, parameters sha256 %s\n",
         (long long)fitted.steps, weight_error, mean_error, (long long)right,
         (long long)count, digest);
  CHECK(astra_tensor_release(e.runtime, x, &error));
  CHECK(astra_tensor_release(e.runtime, labels, &error));
  gmm_release(&gmm);
  example_close(&e);
  return 0;
}
