// Dimension expressions: canonical form, proofs, text and evaluation. The
// arithmetic is checked against direct evaluation at many values.
#include "dialect/Dim.h"
#include "astra/module.h"
#include <gtest/gtest.h>

using namespace astra;

namespace {
Dim n = Dim::name("n"), m = Dim::name("m"), k = Dim::name("k");
Dim c(int64_t value) { return Dim::constant(value); }

int64_t floorDivide(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q * b > a ? q - 1 : (a - q * b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

int64_t valueOf(const Dim &dim, int64_t nv, int64_t mv, int64_t kv) {
  auto value = dim.evaluate([&](llvm::StringRef name) {
    return name == "n" ? nv : name == "m" ? mv : kv;
  });
  EXPECT_TRUE(value.has_value()) << dim.str();
  return value.value_or(-999);
}

/// A tiny machine for the postfix code, written from module.h.
int64_t runCode(const std::vector<int64_t> &code, std::vector<int64_t> dims) {
  std::vector<int64_t> stack;
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i] == ASTRA_DIM_CONST) {
      stack.push_back(code[++i]);
      continue;
    }
    if (code[i] == ASTRA_DIM_NAME) {
      stack.push_back(dims[code[++i]]);
      continue;
    }
    int64_t b = stack.back();
    stack.pop_back();
    int64_t &a = stack.back();
    switch (code[i]) {
    case ASTRA_DIM_ADD:
      a += b;
      break;
    case ASTRA_DIM_SUB:
      a -= b;
      break;
    case ASTRA_DIM_MUL:
      a *= b;
      break;
    case ASTRA_DIM_FLOORDIV:
      a = floorDivide(a, b);
      break;
    default:
      a -= floorDivide(a, b) * b;
      break;
    }
  }
  EXPECT_EQ(stack.size(), 1u);
  return stack.back();
}

TEST(Dim, PrintsAsPeopleWrite) {
  EXPECT_EQ((c(2) * n + c(1)).str(), "2*n + 1");
  EXPECT_EQ((n - c(3)).str(), "n - 3");
  EXPECT_EQ((c(0)).str(), "0");
  EXPECT_EQ((c(-4)).str(), "-4");
  EXPECT_EQ((n * m).str(), (m * n).str());
  EXPECT_EQ((Dim::floordiv(n - k, m) + c(1)).str(), "(n - k) / m + 1");
  EXPECT_EQ((c(2) * Dim::mod(n, c(3))).str(), "2*(n % 3)");
}

TEST(Dim, CanonicalFormProvesEqualities) {
  EXPECT_EQ((n + m) * (n - m), n * n - m * m);
  EXPECT_EQ(Dim::floordiv(c(2) * n * m, m), c(2) * n);
  EXPECT_EQ(Dim::floordiv(c(4) * n + c(8), c(4)), n + c(2));
  EXPECT_EQ(Dim::floordiv(n * m, c(2) * n), Dim::floordiv(m, c(2)));
  EXPECT_EQ(Dim::floordiv(c(6) * n, c(4)), Dim::floordiv(c(3) * n, c(2)));
  EXPECT_EQ(Dim::floordiv(c(3) * n * n, c(6) * n * m),
            Dim::floordiv(n, c(2) * m));
  EXPECT_EQ(Dim::mod(c(6) * n, c(3)), c(0));
  EXPECT_EQ(n + c(4) - n, c(4));
}

TEST(Dim, Compare) {
  EXPECT_EQ(Dim::compare(n + c(1), c(1) + n), DimProof::Equal);
  EXPECT_EQ(Dim::compare(n, n + c(1)), DimProof::Different);
  EXPECT_EQ(Dim::compare(n, m), DimProof::Unknown);
  EXPECT_EQ(Dim::compare(n + m + c(1), c(0)), DimProof::Different);
  EXPECT_EQ(Dim::compare(c(2) * n, c(2) * m + c(1)), DimProof::Different);
  EXPECT_EQ(Dim::compare(c(64), c(32)), DimProof::Different);
  EXPECT_EQ(Dim::compare(n, c(64)), DimProof::Unknown);
}

TEST(Dim, TextEvaluationAndCodeAgreeEverywhere) {
  std::vector<Dim> dims = {
      c(0),
      c(7),
      n,
      c(2) * n + c(1),
      n * m - k,
      c(-3) * n * n + m,
      Dim::floordiv(n - k, m + c(1)) + c(1),
      Dim::mod(c(-1), n + c(1)),
      Dim::floordiv(c(5) * n + c(3), c(2)),
      Dim::mod(n * m + c(9), c(4)),
      Dim::floordiv(Dim::mod(n, c(5)), Dim::floordiv(m, c(2)) + c(1)) * k,
      Dim::floordiv(c(-7) * n - c(3), c(7))};
  for (const Dim &dim : dims) {
    auto back = Dim::parse(dim.str());
    ASSERT_TRUE(back.has_value()) << dim.str();
    EXPECT_EQ(back->str(), dim.str());
    EXPECT_EQ(*back, dim) << dim.str();
    auto code = dim.encode({"n", "m", "k"});
    for (int64_t nv : {0, 1, 5, 12})
      for (int64_t mv : {0, 3, 8})
        for (int64_t kv : {0, 2, 9})
          EXPECT_EQ(runCode(code, {nv, mv, kv}), valueOf(dim, nv, mv, kv))
              << dim.str();
  }
  EXPECT_EQ(valueOf(Dim::mod(c(-1), n + c(1)), 4, 0, 0), 4);
  EXPECT_EQ(valueOf(Dim::floordiv(c(-7) * n - c(3), c(7)), 2, 0, 0), -3);
}

TEST(Dim, RefusesOverflowAndDivisionByZero) {
  std::string reason;
  Dim big = c(INT64_MAX);
  EXPECT_TRUE((big + c(1)).hasOverflow());
  EXPECT_TRUE((big * c(2)).hasOverflow());
  EXPECT_TRUE(Dim::floordiv(big * c(2), c(64)).hasOverflow());
  EXPECT_TRUE(Dim::mod(big * c(2), c(64)).hasOverflow());
  EXPECT_FALSE((n * big).evaluate([](llvm::StringRef) { return 2; }, &reason));
  EXPECT_EQ(reason, "does not fit in 64 bits");
  EXPECT_FALSE(
      Dim::floordiv(m, n).evaluate([](llvm::StringRef) { return 0; }, &reason));
  EXPECT_EQ(reason, "division by zero");
  EXPECT_FALSE(Dim::parse("2*").has_value());
  EXPECT_FALSE(Dim::parse("").has_value());
  EXPECT_FALSE(Dim::parse(std::string(100000, '(')).has_value());
}

TEST(Dim, Substitutes) {
  Dim dim = Dim::floordiv(n - k, m) + c(1);
  Dim out = dim.substitute([](llvm::StringRef name) -> std::optional<Dim> {
    if (name == "n")
      return c(10);
    if (name == "k")
      return c(3);
    if (name == "m")
      return c(2);
    return std::nullopt;
  });
  EXPECT_EQ(out, c(4));
}
} // namespace
