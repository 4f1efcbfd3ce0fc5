// Functions marked so are compiled for a GPU as well, where nvcc compiles them (kernel/cuda): the tests of the host
// test them, too.
#pragma once

#ifdef __CUDACC__
#define ZTP_DEVICE __host__ __device__
#else
#define ZTP_DEVICE
#endif
