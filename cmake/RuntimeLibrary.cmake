# libgemmtune as it is installed: one shared and one static library that each hold everything the C
# interface needs and show nothing but the C interface. Both have the names here that find_package() gives them.
include(GNUInstallDirs)

file(STRINGS "${PROJECT_SOURCE_DIR}/include/gemmtune/gemmtune.h" abi_line
     REGEX "^#define GEMMTUNE_ABI_VERSION")
string(REGEX MATCH "[0-9]+$" GEMMTUNE_ABI_VERSION "${abi_line}")
set(packaging "${PROJECT_SOURCE_DIR}/packaging")

# --- Shared --------------------------------------------------------------------------------------

add_library(gemmtune_shared SHARED "${packaging}/shared_library.cc")
set_target_properties(gemmtune_shared PROPERTIES
  OUTPUT_NAME gemmtune VERSION ${PROJECT_VERSION} SOVERSION ${GEMMTUNE_ABI_VERSION}
  EXPORT_NAME gemmtune LINK_DEPENDS "${packaging}/gemmtune.map")
target_link_libraries(gemmtune_shared PRIVATE gemmtune_flags
                      "$<LINK_LIBRARY:WHOLE_ARCHIVE,gemmtune_dispatch>")
target_link_options(gemmtune_shared PRIVATE
  "-Wl,--version-script=${packaging}/gemmtune.map" -Wl,--no-undefined)
target_include_directories(gemmtune_shared INTERFACE
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>")

add_library(gemmtune::gemmtune ALIAS gemmtune_shared)

# --- Static --------------------------------------------------------------------------------------

# The objects of all our libraries, and of SQLite, linked into one and then stripped of every global name
# but the interface's: a program may hold another SQLite or fmt.
find_program(GEMMTUNE_OBJCOPY NAMES ${CMAKE_OBJCOPY} objcopy REQUIRED)
set(static_object "${CMAKE_CURRENT_BINARY_DIR}/gemmtune_all.o")
set(static_library "${CMAKE_CURRENT_BINARY_DIR}/libgemmtune.a")
set(parts "")
foreach(name dispatch launch vendor store gpu jit codegen core fmt)
  list(APPEND parts "$<TARGET_FILE:gemmtune_${name}>")
endforeach()
add_custom_command(OUTPUT "${static_library}"
  COMMAND "${CMAKE_LINKER}" -r --force-group-allocation -o "${static_object}"
          -u gemmtune_create ${parts} "${GEMMTUNE_SQLITECPP_LIB}" "${GEMMTUNE_SQLITE_LIB}"
  COMMAND "${GEMMTUNE_OBJCOPY}" --wildcard "--keep-global-symbol=gemmtune_*" "${static_object}"
  COMMAND "${CMAKE_COMMAND}" -E rm -f "${static_library}"
  COMMAND "${CMAKE_AR}" rcs "${static_library}" "${static_object}"
  DEPENDS gemmtune_dispatch gemmtune_launch gemmtune_vendor gemmtune_store gemmtune_gpu gemmtune_jit
          gemmtune_codegen gemmtune_core gemmtune_fmt
  COMMENT "Linking the static libgemmtune" VERBATIM)
add_custom_target(gemmtune_static ALL DEPENDS "${static_library}")

# IMPORTED, because no compiler makes it.
add_library(gemmtune::gemmtune_static STATIC IMPORTED GLOBAL)
set_target_properties(gemmtune::gemmtune_static PROPERTIES IMPORTED_LOCATION "${static_library}")
target_include_directories(gemmtune::gemmtune_static INTERFACE "${PROJECT_SOURCE_DIR}/include")
target_link_libraries(gemmtune::gemmtune_static INTERFACE stdc++ m Threads::Threads ${CMAKE_DL_LIBS})
add_dependencies(gemmtune::gemmtune_static gemmtune_static)
