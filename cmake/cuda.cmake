# libztp_cuda.so beside the program. nvcc is called as it is: what CMake 3.25 knows of it ends before C++20.
find_program(ZTP_NVCC nvcc HINTS /usr/local/cuda/bin)
if(NOT ZTP_NVCC)
  message(FATAL_ERROR "ZTP_CUDA needs nvcc, NVIDIA's compiler: install the CUDA toolkit (12.1 or later) and put its "
                      "bin folder on the path")
endif()
# The tests' build leaves all machine code to the moment when it is loaded: that compiles in less time.
set(ZTP_NVCC_TARGETS -gencode arch=compute_80,code=compute_80)
if(CMAKE_BUILD_TYPE STREQUAL Release)
  list(APPEND ZTP_NVCC_TARGETS -gencode arch=compute_90,code=sm_90)
endif()
set(ZTP_NVCC_FLAGS -std=c++20 -O3 --expt-relaxed-constexpr --extended-lambda ${ZTP_NVCC_TARGETS}
    -Xcompiler=-fPIC,-fvisibility=hidden -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include)
file(GLOB ZTP_CUDA_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/kernel/cuda/device/*.cu)
set(ZTP_CUDA_OBJECTS "")
foreach(source ${ZTP_CUDA_SOURCES})
  get_filename_component(name ${source} NAME_WE)
  set(object ${PROJECT_BINARY_DIR}/cuda/${name}.o)
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/cuda
    COMMAND ${ZTP_NVCC} ${ZTP_NVCC_FLAGS} -MD -MF ${object}.d -c ${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d VERBATIM)
  list(APPEND ZTP_CUDA_OBJECTS ${object})
endforeach()
set(ZTP_CUDA_LIBRARY ${PROJECT_BINARY_DIR}/libztp_cuda.so)
add_custom_command(OUTPUT ${ZTP_CUDA_LIBRARY}
  COMMAND ${ZTP_NVCC} -shared -cudart static ${ZTP_CUDA_OBJECTS} -o ${ZTP_CUDA_LIBRARY}
  DEPENDS ${ZTP_CUDA_OBJECTS} VERBATIM)
add_custom_target(ztp_cuda ALL DEPENDS ${ZTP_CUDA_LIBRARY})
install(FILES ${ZTP_CUDA_LIBRARY} DESTINATION ${CMAKE_INSTALL_BINDIR})
