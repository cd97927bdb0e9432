# Flags that hold for every target. Decoded values must be the same bits everywhere, hence no
# contraction, no fast math and no -march: SIMD code picks its instruction set at run time.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

add_compile_options(-ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                    -Wno-sign-conversion -Wno-float-conversion -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc's flow-based guesses misfire inside the standard library once sanitizers are on.
  add_compile_options(-Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds
                      -Wno-restrict -Wno-psabi)
endif()
if(TAMIS_WERROR)
  add_compile_options(-Werror)
endif()
if(TAMIS_SANITIZE)
  add_compile_options(-fsanitize=${TAMIS_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TAMIS_SANITIZE})
endif()
if(TAMIS_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(TAMIS_CCACHE ccache)
if(TAMIS_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TAMIS_CCACHE})
endif()
