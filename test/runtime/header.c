/* Uses each public header, to be compiled as C99, C11 and C++17 with all
 * warnings as errors; and calls the library through its table.
 */
#include "astra/api.h"
#include "astra/astra.h"
#include "astra/module.h"

int use_headers(const astra_api_t *api);

int use_headers(const astra_api_t *api) {
  astra_borrow_t borrow;
  astra_value_t value = astra_value_of_f32(1.0f);
  ASTRA_INIT(BORROW, &borrow);
  return borrow.chain.type == ASTRA_STRUCT_BORROW && value.dtype == ASTRA_F32 &&
         api->version() == ASTRA_VERSION;
}
