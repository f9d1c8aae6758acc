# LLVM and MLIR 22 (Debian's packages), and how libraries that use them are made.
list(APPEND CMAKE_PREFIX_PATH /usr/lib/llvm-22)
find_package(MLIR REQUIRED CONFIG)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${PROJECT_BINARY_DIR})
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${LLVM_DEFINITIONS_LIST})

# How far the compiler's own code is optimised, where that is not left to the build
# type: -O1 builds in half the time, and astrac's time goes into LLVM's code anyway.
set(ASTRA_COMPILER_OPT "" CACHE STRING "Optimisation flag for the compiler's own code")

# A static library that uses LLVM's support classes only (no MLIR).
function(astra_add_llvm_library name)
  add_library(${name} STATIC ${ARGN})
  target_compile_options(${name} PRIVATE -fno-exceptions ${ASTRA_COMPILER_OPT})
  target_link_libraries(${name} PUBLIC LLVM)
endfunction()

# A static library that uses MLIR; shares one precompiled header.
function(astra_add_mlir_library name)
  add_library(${name} STATIC ${ARGN})
  target_compile_options(${name} PRIVATE -fno-exceptions ${ASTRA_COMPILER_OPT})
  target_link_libraries(${name} PUBLIC MLIR LLVM)
  if(ASTRA_PCH)
    astra_use_mlir_pch(${name})
  endif()
endfunction()

function(astra_use_mlir_pch name)
  if(NOT TARGET astra_mlir_pch)
    file(WRITE ${PROJECT_BINARY_DIR}/pch/empty.cpp "")
    add_library(astra_mlir_pch STATIC ${PROJECT_BINARY_DIR}/pch/empty.cpp)
    target_compile_options(astra_mlir_pch PRIVATE -fno-exceptions ${ASTRA_COMPILER_OPT})
    target_precompile_headers(astra_mlir_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/MlirPch.h)
  endif()
  target_precompile_headers(${name} REUSE_FROM astra_mlir_pch)
endfunction()
