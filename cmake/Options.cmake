# Compiler settings that every target of the project shares.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# The static libgemmtune is linked once already: from machine code, whose names can be made its own.
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION OFF)
# In a unity build, all files of a library or a test are compiled together: headers are most of the work, and
# what may clash does not depend on how many files there are.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

if(GEMMTUNE_CHECK_ONLY)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_CURRENT_LIST_DIR}/check_only")
endif()
# Paths below the source folder count as relative, so that builds in several folders share objects.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" "${CCACHE_PROGRAM}")
endif()
if(GEMMTUNE_WERROR)
  list(PREPEND CMAKE_C_COMPILER_LAUNCHER "${CMAKE_CURRENT_LIST_DIR}/fail_on_warnings")
  list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_CURRENT_LIST_DIR}/fail_on_warnings")
endif()

# Names that the static libgemmtune can make its own.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
endif()

add_library(gemmtune_flags INTERFACE)
# g++ 12 reports overlaps that cannot happen in std::string operator+ (GCC bug 105651).
target_compile_options(gemmtune_flags INTERFACE -Wall -Wextra -Wno-restrict $<$<COMPILE_LANGUAGE:CXX>:
  -Wnon-virtual-dtor -Wsuggest-override $<$<CXX_COMPILER_ID:GNU>:-Wzero-as-null-pointer-constant>>)
if(GEMMTUNE_SANITIZE)
  add_compile_options(-fsanitize=${GEMMTUNE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${GEMMTUNE_SANITIZE})
  if(GEMMTUNE_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
# Every executable carries its C++ runtime, so that a release build can be copied to another machine.
if(NOT GEMMTUNE_SANITIZE)
  add_link_options(-static-libstdc++ -static-libgcc)
endif()

# gemmtune_library(<folder> SOURCES ... LINK ...)
# One static library a src/ folder, as target gemmtune_<folder> and alias gemmtune::<folder>.
function(gemmtune_library folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  add_library(gemmtune_${folder} STATIC ${ARG_SOURCES})
  add_library(gemmtune::${folder} ALIAS gemmtune_${folder})
  target_include_directories(gemmtune_${folder} PUBLIC "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(gemmtune_${folder} PUBLIC ${ARG_LINK} PRIVATE gemmtune_flags ${ARG_PRIVATE_LINK})
endfunction()
