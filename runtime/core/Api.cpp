// Versions, and the table of all public functions for programs that load the
// library by path.
#include "astra/api.h"
#include "abi/layout.h"
#include "astra/module.h"

namespace {

#define ASTRA_API_MEMBER(NAME) astra_##NAME,
constexpr astra_api_t table = {sizeof(astra_api_t), ASTRA_API_VERSION, 0,
                               ASTRA_API_FUNCTIONS(ASTRA_API_MEMBER)};
#undef ASTRA_API_MEMBER

#define ASTRA_TEXT_OF(X) #X
#define ASTRA_TEXT(X) ASTRA_TEXT_OF(X)

} // namespace

uint32_t astra_version(void) { return ASTRA_VERSION; }

const char *astra_version_text(void) {
  return ASTRA_TEXT(ASTRA_VERSION_MAJOR) "." ASTRA_TEXT(
      ASTRA_VERSION_MINOR) "." ASTRA_TEXT(ASTRA_VERSION_PATCH);
}

void astra_abi_version(uint32_t *object_abi, uint32_t *arithmetic) {
  if (object_abi)
    *object_abi = ASTRA_OBJECT_ABI_VERSION;
  if (arithmetic)
    *arithmetic = ASTRA_ARITHMETIC_VERSION;
}

const astra_api_t *astra_get_api(uint32_t version) {
  return version == ASTRA_API_VERSION ? &table : nullptr;
}
