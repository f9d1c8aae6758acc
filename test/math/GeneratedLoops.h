// For every function, a loop that makes its arguments itself, as fused code
// does, against one call at a time. GeneratedLoops.cpp is compiled once a CPU
// level, as a function of its own name; it includes nothing that other files
// could share.
#ifndef ASTRA_TEST_MATH_GENERATEDLOOPS_H
#define ASTRA_TEST_MATH_GENERATEDLOOPS_H

/// The name of the first function with a difference in its bits, or null.
const char *generatedLoopsDiffer();
const char *generatedLoopsDifferV4();

#endif // ASTRA_TEST_MATH_GENERATEDLOOPS_H
