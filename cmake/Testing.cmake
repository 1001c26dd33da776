find_path(GEMMTUNE_DOCTEST_DIR doctest/doctest.h REQUIRED)
add_library(gemmtune_doctest STATIC "${CMAKE_CURRENT_LIST_DIR}/third_party/doctest_main.cc")
target_include_directories(gemmtune_doctest SYSTEM PUBLIC "${GEMMTUNE_DOCTEST_DIR}")

# gemmtune_test(<name> SOURCES ... LINK ... [LABELS ...] [TIMEOUT seconds] [COST seconds])
# A doctest executable and one ctest of the same name; those of the highest cost are started first. A
# test process that exits with 77 (no device, say) is reported as skipped.
function(gemmtune_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT;COST" "SOURCES;LINK;LABELS;ARGS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  if(NOT ARG_COST)
    set(ARG_COST 0)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE gemmtune_flags gemmtune_doctest ${ARG_LINK})
  # What they test is optimised; compiling the tests themselves would take twice as long.
  target_compile_options(${name} PRIVATE -O0)
  target_compile_definitions(${name} PRIVATE GEMMTUNE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             GEMMTUNE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  if(GEMMTUNE_SANITIZE)  # tests/unit/rounds.h
    target_compile_definitions(${name} PRIVATE GEMMTUNE_SANITIZED)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${ARG_TIMEOUT}
                                          COST ${ARG_COST} LABELS "${ARG_LABELS}")
  if(GEMMTUNE_SANITIZE MATCHES "address")
    # Clang 14's leak check takes a loaded library's thread-local variables that lie 16 bytes behind a page's
    # beginning for those of an old glibc, and crashes on what it reads before them.
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "ASAN_OPTIONS=intercept_tls_get_addr=0")
  endif()
endfunction()

# gemmtune_fuzzer(<name> SOURCES ... LINK ... COVER target [SEEDS folder] [LENGTH bytes])
# A libFuzzer executable, and a ctest of the same name that runs it for 20 s from the seeds,
# guided by the coverage of the library COVER. What it finds goes to a folder of the build.
function(gemmtune_fuzzer name)
  cmake_parse_arguments(ARG "" "COVER;SEEDS;LENGTH" "SOURCES;LINK" ${ARGN})
  if(NOT ARG_LENGTH)
    set(ARG_LENGTH 8000)
  endif()
  set(corpus "${CMAKE_CURRENT_BINARY_DIR}/${name}.corpus")
  file(MAKE_DIRECTORY "${corpus}")
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE gemmtune_flags ${ARG_LINK})
  target_compile_options(${ARG_COVER} PRIVATE -fsanitize=fuzzer-no-link)
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  add_test(NAME ${name} COMMAND ${name} -max_total_time=20 -max_len=${ARG_LENGTH} -rss_limit_mb=4096
                                "${corpus}" ${ARG_SEEDS})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 COST 100 LABELS fuzz)
endfunction()
