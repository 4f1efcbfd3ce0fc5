# libztp_mpi.so beside the program, which loads it when an MPI launcher starts it. It is C++ that calls MPI's C
# interface: the C++ bindings are not what every MPI has.
enable_language(C)  # FindMPI tries a C compiler
find_package(MPI QUIET COMPONENTS C)
if(NOT MPI_C_FOUND)
  message(FATAL_ERROR "ZTP_MPI needs an MPI with its headers, and its mpicc on the path: on Debian and its relatives, "
                      "libopenmpi-dev and openmpi-bin")
endif()
add_library(ztp_mpi MODULE ${PROJECT_SOURCE_DIR}/src/comm/mpi/mpi_api.cpp)
set_target_properties(ztp_mpi PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
                      INSTALL_RPATH_USE_LINK_PATH ON)
target_include_directories(ztp_mpi PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(ztp_mpi PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
target_link_libraries(ztp_mpi PRIVATE ztp_flags MPI::MPI_C)
install(TARGETS ztp_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_BINDIR})
