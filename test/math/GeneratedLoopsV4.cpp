// GeneratedLoops.cpp for x86-64-v4.
#define ASTRA_ENTRY generatedLoopsDifferV4
#include "GeneratedLoops.cpp"
