// mend_manifest RUN FILE...: makes the manifest of a run list these files as they are now, so that a test of what is
// wrong with one of them gets past the manifest.
#include "store/manifest.hpp"

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  ztp::add_to_manifest(argv[1], {argv + 2, argv + argc});
}
