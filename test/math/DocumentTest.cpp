// docs/elementary.md is the definition for whoever implements the same bits:
// every constant and coefficient in it is the source's, and every function has
// its entry.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace {

std::string document() {
  std::ifstream file(ASTRA_DOCUMENT);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Document, HasEveryPolynomial) {
  std::string text = document();
  int rows = 0;
#define ASTRA_POLYNOMIAL(name, type, ...)                                      \
  ++rows;                                                                      \
  EXPECT_NE(text.find("`" #name "` " #type ": " #__VA_ARGS__ "\n"),            \
            std::string::npos)                                                 \
      << "`" #name "` " #type ": " #__VA_ARGS__;
#include "kernels/math/Polynomials.def"
  EXPECT_GT(rows, 30);
}

TEST(Document, HasEveryConstant) {
  std::string text = document();
#define ASTRA_CONSTANT(name, single, twice)                                    \
  EXPECT_NE(text.find("| `" #name "` | " #single " | " #twice " |\n"),         \
            std::string::npos)                                                 \
      << #name;
#include "kernels/math/Constants.def"
}

TEST(Document, HasEveryFunction) {
  std::string text = document();
#define ASTRA_UNARY(name, implementation)                                      \
  EXPECT_NE(text.find("**" #name "**"), std::string::npos) << #name;
#define ASTRA_BINARY(name, implementation) ASTRA_UNARY(name, implementation)
#define ASTRA_ORDERED(name, implementation) ASTRA_UNARY(name, implementation)
#include "kernels/math/Elementary.def"
}

TEST(Document, HasAMeasurementOfEveryFunction) {
  std::string text = document();
#define ASTRA_CASE(name, ...)                                                  \
  EXPECT_NE(text.find("| " #name " | "), std::string::npos) << #name;
#define ASTRA_ORDERED_CASE(name, ...) ASTRA_CASE(name, )
#include "kernels/math/ulp/Cases.def"
}

} // namespace
