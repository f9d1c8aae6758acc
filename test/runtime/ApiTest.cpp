// The library as a program sees it that loads it by path, and the layouts that
// the ABI fixes.
#include "astra/api.h"
#include "astra/module.h"
#include <cstddef>
#include <dlfcn.h>
#include <gtest/gtest.h>

extern "C" int use_headers(const astra_api_t *api);

// What is released stays where it is.
static_assert(sizeof(astra_chain_t) == 24, "");
static_assert(offsetof(astra_chain_t, struct_size) == 8, "");
static_assert(sizeof(astra_value_t) == 16, "");
static_assert(offsetof(astra_value_t, as) == 8, "");
static_assert(sizeof(astra_tensor_t) == 8, "");
static_assert(sizeof(astra_runtime_options_t) == 88, "");
static_assert(sizeof(astra_borrow_t) == 96, "");
static_assert(sizeof(astra_module_info_t) == 96, "");
static_assert(sizeof(astra_function_info_t) == 104, "");
static_assert(sizeof(astra_value_info_t) == 64, "");
static_assert(sizeof(astra_leaf_info_t) == 64, "");
static_assert(sizeof(astra_module_sizes_t) == 48, "");
static_assert(sizeof(astra_kernel_info_t) == 72, "");
static_assert(sizeof(astra_trace_event_t) == 96, "");
static_assert(sizeof(astra_arg_t) == 32, "");
static_assert(sizeof(astra_call_t) == 40, "");
static_assert(sizeof(astra_call_api_t) == 104, "");
static_assert(sizeof(astra_dim_expr_t) == 24, "");
static_assert(sizeof(astra_leaf_desc_t) == 24, "");
static_assert(sizeof(astra_value_desc_t) == 32, "");
static_assert(sizeof(astra_export_desc_t) == 152, "");
static_assert(sizeof(astra_import_desc_t) == 16, "");
static_assert(sizeof(astra_location_desc_t) == 16, "");
static_assert(sizeof(astra_module_desc_t) == 152, "");
static_assert(ASTRA_MODULE_DESC_SIZE_1 == 104, "");
static_assert(ASTRA_MODULE_DESC_SIZE_2 == 104, "");
static_assert(sizeof(astra_places_desc_t) == 16, "");
static_assert(sizeof(astra_slot_desc_t) == 8, "");
static_assert(sizeof(astra_stage_desc_t) == 40, "");
static_assert(sizeof(astra_fused_desc_t) == 56, "");

namespace {

TEST(Api, IsFoundByPathAndRuns) {
  void *library = dlopen(ASTRA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto getApi = reinterpret_cast<const astra_api_t *(*)(uint32_t)>(
      dlsym(library, "astra_get_api"));
  ASSERT_NE(getApi, nullptr);
  EXPECT_EQ(getApi(0), nullptr);
  EXPECT_EQ(getApi(ASTRA_API_VERSION + 1), nullptr);
  const astra_api_t *api = getApi(ASTRA_API_VERSION);
  ASSERT_NE(api, nullptr);
  EXPECT_EQ(api->struct_size, sizeof(astra_api_t));
  EXPECT_EQ(api->api_version, ASTRA_API_VERSION);
  EXPECT_TRUE(use_headers(api));
  astra_runtime_t *runtime = nullptr;
  ASSERT_EQ(api->runtime_create(nullptr, &runtime, nullptr), ASTRA_OK);
  astra_device_t cpu{0};
  EXPECT_EQ(api->device_open(runtime, "cpu", &cpu, nullptr), ASTRA_OK);
  api->runtime_destroy(runtime);
}

TEST(Api, HasAllMembers) {
  const astra_api_t *api = astra_get_api(ASTRA_API_VERSION);
  ASSERT_NE(api, nullptr);
#define EXPECT_MEMBER(NAME) EXPECT_EQ(api->NAME, astra_##NAME);
  ASTRA_API_FUNCTIONS(EXPECT_MEMBER)
#undef EXPECT_MEMBER
}

} // namespace
