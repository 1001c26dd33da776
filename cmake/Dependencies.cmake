# Third-party libraries, as Debian packages ship them. Where the package has a static library or the
# sources of one, that is what we link, so that the release binary needs libc and libm only.
find_package(Threads REQUIRED)
find_path(GEMMTUNE_EXPECTED_DIR tl/expected.hpp REQUIRED)
find_path(GEMMTUNE_JSON_DIR nlohmann/json.hpp REQUIRED)
find_path(GEMMTUNE_CLI11_DIR CLI/CLI.hpp REQUIRED)
find_path(GEMMTUNE_SQLITECPP_DIR SQLiteCpp/SQLiteCpp.h REQUIRED)
find_path(GEMMTUNE_FMT_DIR fmt/format-inl.h REQUIRED)
find_path(GEMMTUNE_SPDLOG_DIR spdlog/spdlog-inl.h REQUIRED)
find_path(GEMMTUNE_XXHASH_DIR xxhash.h REQUIRED)
find_library(GEMMTUNE_SQLITE_LIB NAMES libsqlite3.a sqlite3 REQUIRED)
find_library(GEMMTUNE_SQLITECPP_LIB NAMES libSQLiteCpp.a SQLiteCpp REQUIRED)

# fmt and spdlog: the packages' shared libraries would be a run-time dependency and their header-only
# form would be compiled into every file, so each is compiled once, from the package's own *-inl.h.
add_library(gemmtune_fmt STATIC "${CMAKE_CURRENT_LIST_DIR}/third_party/fmt.cc")
target_include_directories(gemmtune_fmt SYSTEM PUBLIC "${GEMMTUNE_FMT_DIR}")
add_library(gemmtune_spdlog STATIC "${CMAKE_CURRENT_LIST_DIR}/third_party/spdlog.cc")
target_include_directories(gemmtune_spdlog SYSTEM PUBLIC "${GEMMTUNE_SPDLOG_DIR}")
target_compile_definitions(gemmtune_spdlog PUBLIC SPDLOG_COMPILED_LIB SPDLOG_FMT_EXTERNAL)
target_link_libraries(gemmtune_spdlog PUBLIC gemmtune_fmt Threads::Threads)

add_library(gemmtune_expected INTERFACE)
target_include_directories(gemmtune_expected SYSTEM INTERFACE "${GEMMTUNE_EXPECTED_DIR}")
add_library(gemmtune_json INTERFACE)
target_include_directories(gemmtune_json SYSTEM INTERFACE "${GEMMTUNE_JSON_DIR}")
# Inlined where it is used, so that its names are nobody's business.
add_library(gemmtune_xxhash INTERFACE)
target_include_directories(gemmtune_xxhash SYSTEM INTERFACE "${GEMMTUNE_XXHASH_DIR}")
add_library(gemmtune_cli11 INTERFACE)
target_include_directories(gemmtune_cli11 SYSTEM INTERFACE "${GEMMTUNE_CLI11_DIR}")
add_library(gemmtune_sqlite INTERFACE)
target_include_directories(gemmtune_sqlite SYSTEM INTERFACE "${GEMMTUNE_SQLITECPP_DIR}")
target_link_libraries(gemmtune_sqlite INTERFACE "${GEMMTUNE_SQLITECPP_LIB}" "${GEMMTUNE_SQLITE_LIB}"
                                                Threads::Threads ${CMAKE_DL_LIBS})
