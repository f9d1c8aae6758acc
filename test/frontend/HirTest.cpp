// The typed program as text: what a program becomes when everything is
// resolved.
#include "test/frontend/Checked.h"

using namespace astra;
using namespace astra::test;

static std::string hirOf(const std::string &text) {
  return Checked(text).getHir();
}

TEST(Hir, Digits) {
  Checked checked(R"(import nn
import optim

const CLASSES = 10

struct Mlp { hidden: nn.Dense<64, 32>, out: nn.Dense<32, CLASSES> }

fn logits(m: Mlp, x: f32[n, 64]) -> f32[n, CLASSES] {
  let h = relu(nn.dense(m.hidden, x))
  nn.dense(m.out, h)
}

fn loss(m: Mlp, x: f32[n, 64], y: i32[n]) -> f32 = nn.cross_entropy(logits(m, x), y)

export fn step(m: Mlp, x: f32[n, 64], y: i32[n], lr: f32) -> (Mlp, f32) {
  let (l, g) = value_and_grad(loss)(m, x, y)
  (optim.sgd(m, g, lr), l)
}

export fn predict(m: Mlp, x: f32[n, 64]) -> i32[n] = argmax(logits(m, x), axis = 1)

test "a step lowers the loss" {
  let m = Mlp { hidden: nn.dense_init(random.key(1)), out: nn.dense_init(random.key(2)) }
  let x = random.normal(random.key(3), f32[16, 64])
  let y = [i32(i % 10) for i in 0..16]
  let (m2, before) = step(m, x, y, 0.1)
  assert(loss(m2, x, y) < before)
}
)");
  ASSERT_EQ(checked.getMessages(), "");
  EXPECT_EQ(checked.program->exports.size(), 2u);
  EXPECT_EQ(checked.program->tests.size(), 1u);
  ASSERT_EQ(checked.program->exportedStructs.size(), 3u);
  EXPECT_EQ(hir::toString(checked.program->exportedStructs[0]),
            "nn.Dense<64, 32>");
  EXPECT_EQ(hir::toString(checked.program->exportedStructs[2]), "t.Mlp");
}

TEST(Hir, LiteralsAndBroadcasts) {
  EXPECT_EQ(hirOf("fn f(x: f64[n, 3], y: f64[3]) -> f64[n, 3] = 2 * x + y"),
            "fn t.f<n>(x: f64[n, 3], y: f64[3]) -> f64[n, 3] = "
            "Add(Mul(Broadcast(2:f64):f64[n, 3], x):f64[n, 3], "
            "Broadcast(y; 1):f64[n, 3]):f64[n, 3]\n");
}

TEST(Hir, SumOfProductsIsAContraction) {
  EXPECT_EQ(hirOf("fn f(a: f32[n], b: f32[n]) -> f32 = sum(a[i] * b[i] for i)"),
            "fn t.f<n>(a: f32[n], b: f32[n]) -> f32 = "
            "Contract(a, b; 0 1 0 0):f32\n");
}

TEST(Hir, CallsNameTheDimensions) {
  EXPECT_EQ(hirOf("fn g(x: f32[a, b]) -> f32[b] = sum(x, axis = 0)\n"
                  "fn f(x: f32[2, n]) -> f32[n] = g(x)"),
            "fn t.g<a, b>(x: f32[a, b]) -> f32[b] = Sum(x; 0):f32[b]\n"
            "fn t.f<n>(x: f32[2, n]) -> f32[n] = "
            "t.g<a = 2, b = n>(x):f32[n]\n");
}
