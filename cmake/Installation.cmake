# What `cmake --install` installs: libgemmtune with a CMake package and a pkg-config file, and gemm-tune.
include(CMakePackageConfigHelpers)

set(GEMMTUNE_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/gemmtune")
configure_package_config_file("${packaging}/gemmtuneConfig.cmake.in"
  "${CMAKE_CURRENT_BINARY_DIR}/gemmtuneConfig.cmake" INSTALL_DESTINATION "${GEMMTUNE_CMAKE_DIR}"
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/gemmtuneConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)

# pkg-config finds the prefix from where its file is: it is chosen by `cmake --install`, and may be moved.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(GEMMTUNE_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH GEMMTUNE_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" GEMMTUNE_PC_PREFIX "\${pcfiledir}/${GEMMTUNE_PC_PREFIX}")
endif()
foreach(folder LIBDIR INCLUDEDIR)
  set(GEMMTUNE_PC_${folder} "${CMAKE_INSTALL_${folder}}")
  if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
    string(PREPEND GEMMTUNE_PC_${folder} "\${prefix}/")
  endif()
endforeach()
configure_file("${packaging}/gemmtune.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/gemmtune.pc" @ONLY)

install(TARGETS gemmtune_shared EXPORT gemmtuneTargets)
install(EXPORT gemmtuneTargets NAMESPACE gemmtune:: DESTINATION "${GEMMTUNE_CMAKE_DIR}")
install(FILES "${static_library}" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/gemmtune"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/gemmtuneConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/gemmtuneConfigVersion.cmake"
        DESTINATION "${GEMMTUNE_CMAKE_DIR}")
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/gemmtune.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
install(TARGETS gemm-tune gemmtune_cublas)
