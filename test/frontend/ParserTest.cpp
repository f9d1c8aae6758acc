// Which text is which tree. Expressions are compared in a short form: the
// tree's lines with parentheses for children, `(binary + (name a) (name b))` as
// `(+ a b)`.
#include "test/frontend/Parse.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace astra;
using namespace astra::test;
using llvm::StringRef;

namespace {
/// Reads the indented lines back as a nested list.
class Shortener {
public:
  explicit Shortener(StringRef tree) { tree.split(lines, '\n', -1, false); }
  std::string run() {
    std::string result;
    while (next < lines.size())
      result += (result.empty() ? "" : " ") + readNode();
    return result;
  }

private:
  static size_t getIndent(StringRef line) {
    return line.size() - line.ltrim().size();
  }
  static std::string getLabel(StringRef text) {
    for (StringRef word : {"name ", "int ", "float ", "binary ", "unary "})
      if (text.consume_front(word))
        break;
    return text.str();
  }
  std::string readNode() {
    size_t indent = getIndent(lines[next]);
    std::string label = getLabel(lines[next++].trim()), children;
    while (next < lines.size() && getIndent(lines[next]) > indent)
      children += " " + readNode();
    return children.empty() ? label : "(" + label + children + ")";
  }
  llvm::SmallVector<StringRef> lines;
  size_t next = 0;
};
} // namespace

/// The short form of a value; in a block if it has several lines.
static std::string getShort(const std::string &text) {
  Parsed parsed("fn f() = " + text + "\n");
  if (parsed.diagnostics.hasErrors())
    return parsed.getMessages();
  std::string tree = parsed.getTree();
  return Shortener(StringRef(tree).split('\n').second).run();
}

static std::string getBlock(const std::string &lines) {
  return getShort("{\n" + lines + "\n}");
}

TEST(Parser, Precedence) {
  EXPECT_EQ(getShort("a + b * c"), "(+ a (* b c))");
  EXPECT_EQ(getShort("a - b - c"), "(- (- a b) c)");
  EXPECT_EQ(getShort("-x ** 2"), "(- (** x 2))");
  EXPECT_EQ(getShort("a ** b ** c"), "(** a (** b c))");
  EXPECT_EQ(getShort("a ** -b"), "(** a (- b))");
  EXPECT_EQ(getShort("-x.T[i](y)"), "(- (call (index (field T x) i) y))");
  EXPECT_EQ(getShort("a * b as f32[n] @ c"), "(@ (* a (as f32[n] b)) c)");
  EXPECT_EQ(getShort("-x as f32"), "(as f32 (- x))");
  EXPECT_EQ(getShort("a + b < c % d"), "(< (+ a b) (% c d))");
  EXPECT_EQ(getShort("a || b && !c == d"), "(|| a (&& b (== (! c) d)))");
  EXPECT_EQ(getShort("(a + b) * c"), "(* (+ a b) c)");
  EXPECT_EQ(getShort("a / b * c"), "(* (/ a b) c)");
}

TEST(Parser, PipesAndLambdas) {
  EXPECT_EQ(getShort("x |> f |> g(1)"), "(pipe (call g 1) (pipe f x))");
  EXPECT_EQ(getShort("x |> |v| f(v) |> g"),
            "(pipe (lambda |v| (pipe g (call f v))) x)");
  EXPECT_EQ(getShort("a < b |> f"), "(pipe f (< a b))");
  EXPECT_EQ(getShort("map(|(a, _), x: f32[k]| a + x, xs)"),
            "(call map (lambda |(a, _), x: f32[k]| (+ a x)) xs)");
  EXPECT_EQ(getShort("|x| |y| x"), "(lambda |x| (lambda |y| x))");
  EXPECT_EQ(getShort("|x| { x }"), "(lambda |x| (block x))");
}

TEST(Parser, With) {
  EXPECT_EQ(getShort("x with [i] = 1.0 with [.., j] += v"),
            "(with (with x (at i) (= 1.0)) (at range j) (+= v))");
  EXPECT_EQ(getShort("m with { lr: 0.1, b }"), "(with m (lr: 0.1) b)");
  EXPECT_EQ(getShort("a || b with [i] = c |> f"),
            "(pipe f (with (|| a b) (at i) (= c)))");
}

TEST(Parser, IndicesAndRanges) {
  EXPECT_EQ(getShort("x[1..5, .., -1, i.., ..j, k..k + 2]"),
            "(index x (range (from 1) (to 5)) range (- 1) (range (from i)) "
            "(range (to j)) (range (from k) (to (+ k 2))))");
  EXPECT_EQ(getShort("zeros(f32[..b, n])"),
            "(call zeros (index f32 (range (to b)) n))");
  EXPECT_EQ(getShort("t.0.1"), "(field 1 (field 0 t))");
}

TEST(Parser, CallsAndGenerators) {
  EXPECT_EQ(getShort("sum(x, axis = 1, keepdims = true)"),
            "(call sum x (axis = 1) (keepdims = true))");
  EXPECT_EQ(getShort("f(a == b)"), "(call f (== a b))");
  EXPECT_EQ(getShort("sum(a[i] * b[i] for i in 0..n - 1, j)"),
            "(call sum (generator (* (index a i) (index b i)) "
            "(for i (range (from 0) (to (- n 1)))) for j))");
  EXPECT_EQ(
      getShort("[a[i] for i in 0..n, j]"),
      "(comprehension (index a i) (for i (range (from 0) (to n))) for j)");
  EXPECT_EQ(getShort("vmap(f, axes = (0, none))(x)"),
            "(call (call vmap f (axes = (tuple 0 none))) x)");
  EXPECT_EQ(getShort("einsum(\"ij->ji\", x)"),
            "(call einsum string \"ij->ji\" x)");
}

TEST(Parser, TuplesAndArrays) {
  EXPECT_EQ(getShort("(a,)"), "(tuple a)");
  EXPECT_EQ(getShort("(a)"), "a");
  EXPECT_EQ(getShort("()"), "tuple");
  EXPECT_EQ(getShort("[[1.0, 2.0], [3.0, 4.0],]"),
            "(array (array 1.0 2.0) (array 3.0 4.0))");
  EXPECT_EQ(getShort("0xff + 1_000 + 1_0.5e1_0"), "(+ (+ 255 1000) 10.5e10)");
  EXPECT_EQ(getShort("18446744073709551615"), "18446744073709551615");
}

TEST(Parser, StructLiterals) {
  EXPECT_EQ(getShort("Pair { a, b: nn.Dense { w, b: 1.0 } }"),
            "(struct Pair a (b: (struct nn.Dense w (b: 1.0))))");
  EXPECT_EQ(getShort("if c == N { 1.0 } else { 2.0 }"),
            "(if (== c N) (then (block 1.0)) (else (block 2.0)))");
  EXPECT_EQ(
      getShort("if (P { a }).a { 1.0 } else { 2.0 }"),
      "(if (field a (struct P a)) (then (block 1.0)) (else (block 2.0)))");
  EXPECT_EQ(getShort("if f(P { a }) { 1.0 } else { 2.0 }"),
            "(if (call f (struct P a)) (then (block 1.0)) (else (block 2.0)))");
}

TEST(Parser, ControlFlow) {
  EXPECT_EQ(getShort("if a { 1 } else if b { 2 } else { 3 }"),
            "(if a (then (block 1)) (else (if b (then (block 2)) (else (block "
            "3)))))");
  EXPECT_EQ(
      getShort("loop (x = x0, v: f32 = 0.0, w) for t in 0..n checkpoint { x }"),
      "(loop checkpoint (state x x0) (state v: f32 0.0) state w "
      "(for t (range (from 0) (to n))) (block x))");
  EXPECT_EQ(getShort("loop (e = 1.0) while e > EPS { e * 0.5 }"),
            "(loop (state e 1.0) (while (> e EPS)) (block (* e 0.5)))");
  EXPECT_EQ(getShort("on cuda(2) { x }"), "(on cuda(2) (block x))");
}

TEST(Parser, LinesInABlock) {
  EXPECT_EQ(getBlock("let a = x\n- s\na"), "(block (let a (- x s)) a)");
  EXPECT_EQ(getBlock("let a = x\n-s"), "(block (let a x) (- s))");
  EXPECT_EQ(getBlock("let a = x -s\na"), "(block (let a (- x s)) a)");
  EXPECT_EQ(getBlock("f\n(a)"), "(block (do f) a)");
  EXPECT_EQ(getBlock("f\n[a]"), "(block (do f) (array a))");
  EXPECT_EQ(getBlock("f\n|a| a"), "(block (do f) (lambda |a| a))");
  EXPECT_EQ(getBlock("f\n!a"), "(block (do f) (! a))");
  EXPECT_EQ(getBlock("a\n|| b\n&& c"), "(block (|| a (&& b c)))");
  EXPECT_EQ(getBlock("a\n != b"), "(block (!= a b))");
  EXPECT_EQ(getBlock("x\n .T\n |> f\n as f32"),
            "(block (pipe (as f32 f) (field T x)))");
  EXPECT_EQ(getBlock("x\n with [i] = v"), "(block (with x (at i) (= v)))");
  EXPECT_EQ(getBlock("if a { b }\nelse { c }"),
            "(block (if a (then (block b)) (else (block c))))");
  EXPECT_EQ(getBlock("let a =\n b *\n c\na; b"),
            "(block (let a (* b c)) (do a) b)");
  EXPECT_EQ(getBlock("P\n{ a }"), "(block (do P) (block a))");
}

TEST(Parser, TheInnermostBracketDecides) {
  EXPECT_EQ(getBlock("f(a\n-b\n, c\n(d))"),
            "(block (call f (- a b) (call c d)))");
  EXPECT_EQ(getBlock("f({\n a\n -b\n}, c)"),
            "(block (call f (block (do a) (- b)) c))");
  EXPECT_EQ(getBlock("f(|v| {\n let w = v\n (w)\n})"),
            "(block (call f (lambda |v| (block (let w v) w))))");
  EXPECT_EQ(getBlock("P {\n a\n : b\n -c,\n}"),
            "(block (struct P (a: (- b c))))");
  EXPECT_EQ(getBlock("x with [\n i\n] = v"), "(block (with x (at i) (= v)))");
}

TEST(Parser, Items) {
  EXPECT_EQ(
      Parsed(
          "/// About it.\nimport nn\nimport ./sub/layers\nimport ../x\n"
          "const HALF: f32 = 0.5\n"
          "/// A pair.\n///   Two lines.\n"
          "export struct P<n, T: float> {\n  /// first\n  a: T[n, 2*n + 1],\n"
          "  b: [nn.Dense<64, n>; 4], c: (f32, i32[]), d: Q<R<3>, [P; 2]>\n}\n"
          "export fn f<h: int, P>(x: f32[..b, (h - k) / s], g: fn(f32, P) -> "
          "f32, "
          "eps: f32 = 1e-5) -> (f32[n],) on cuda(1) = x\n"
          "fn g() { assert(x) }\n"
          "derivative f(x: f32) vjp |dy| dy\n  jvp |dx| dx\n"
          "test \"a b\" { let x = 1 }\n")
          .getTree(),
      R"(module t
  import nn
  import ./sub/layers
  import ../x
  const HALF: f32
    float 0.5
  /// A pair.
  ///   Two lines.
  export struct P<n, T: float>
    /// first
    field a: T[n, ((2 * n) + 1)]
    field b: [nn.Dense<64, n>; 4]
    field c: (f32, i32[])
    field d: Q<R<3>, [P; 2]>
  export fn f<h: int, P> on cuda(1)
    param x: f32[..b, ((h - k) / s)]
    param g: fn(f32, P) -> f32
    param eps: f32
      default
        float 1e-5
    result (f32[n],)
    name x
  fn g
    block
      call
        name assert
        name x
  derivative f
    param x: f32
    vjp
      lambda |dy|
        name dy
    jvp
      lambda |dx|
        name dx
  test "a b"
    block
      let x
        int 1
)");
}

TEST(Parser, HeadsMayGoOnInTheNextLine) {
  EXPECT_EQ(
      Parsed(
          "fn f(\n  x: f32,\n)\n  -> f32\n  = x\nfn g() -> f32\n{\n 1.0\n}\n")
          .getPlaces(),
      "");
}

TEST(Parser, RangesOfNodes) {
  Parsed parsed("fn f(x: f32) -> f32 = (x + 1.0) * x.T[0]\n");
  auto text = [&](SourceRange range) {
    return parsed.sources.getText(range).str();
  };
  ast::FnItem *fn = parsed.module->fns[0];
  EXPECT_EQ(text(fn->range), "fn f(x: f32) -> f32");
  EXPECT_EQ(text(fn->body->range), "(x + 1.0) * x.T[0]");
  auto *mul = llvm::cast<ast::BinaryExpr>(fn->body);
  EXPECT_EQ(text(mul->lhs->range), "(x + 1.0)");
  EXPECT_EQ(text(mul->rhs->range), "x.T[0]");
  EXPECT_EQ(text(mul->opRange), "*");
  EXPECT_EQ(text(fn->params[0].type->range), "f32");
}

TEST(Parser, GreaterEqualAfterATypeSplits) {
  EXPECT_EQ(getBlock("let x: P<2>= y\nx"), "(block (let x: P<2> y) x)");
}

TEST(Parser, ByteOrderMarkAndCarriageReturns) {
  EXPECT_EQ(Parsed("\xEF\xBB\xBF"
                   "fn f() -> f32 {\r\n  1.0\r\n}\r\n")
                .getPlaces(),
            "");
}

// The work of printing follows the size of the tree, also where indices in
// types nest deeply.
TEST(Parser, PrintsDeeplyNestedIndicesInTypes) {
  std::string type;
  for (int i = 0; i < 60; ++i)
    type += "a[i, ";
  type += "1" + std::string(60, ']');
  std::string tree =
      Parsed("fn f(x: f32[" + type + "]) -> f32 = x\n").getTree();
  EXPECT_EQ(llvm::StringRef(tree).count("a[i, "), 60u);
}
