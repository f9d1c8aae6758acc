# Settings for every target: language level, output folders, warnings,
# sanitizers, and code that does not depend on where it was built.
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
# A path relative to the program: as long in every folder, and of no folder.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/runtime/include)

add_compile_options(
  -Wall -Wextra -Wno-unused-parameter
  -ffp-contract=off
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(ASTRA_WERROR)
  add_compile_options(-Werror)
endif()
if(ASTRA_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(ASTRA_SANITIZE)
  # Not `function`: it reads the word before a function that is called by pointer, and
  # those of modules are astrac's, with none there; at the start of a page it faults.
  add_compile_options(-fsanitize=${ASTRA_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
    -fno-sanitize=function)
  add_link_options(-fsanitize=${ASTRA_SANITIZE})
endif()
