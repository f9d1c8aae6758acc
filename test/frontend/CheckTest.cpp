// What the checker accepts and refuses: dimensions, literals, generics,
// modules, and the places and words of its messages.
#include "test/frontend/Checked.h"

using namespace astra;
using namespace astra::test;

static bool isGood(const std::string &text) {
  Checked checked(text);
  EXPECT_EQ(checked.getMessages(), "") << text;
  return !checked.diagnostics.hasErrors();
}

static std::string places(const std::string &text) {
  return Checked(text).getPlaces();
}

TEST(CheckDims, ProvesPolynomialEqualities) {
  EXPECT_TRUE(isGood("fn f(x: f32[2 * n + 2], y: f32[n]) -> f32[n + 1, 2] = "
                     "reshape(x, [n + 1, 2])\n"
                     "fn g(x: f32[n, m]) -> f32[m * n] = reshape(x, [n * m])\n"
                     "fn h(x: f32[a + b], y: f32[b + a], p: f32[a], q: f32[b])"
                     " -> f32[a + b] = x + y + concat(p, q)"));
}

TEST(CheckDims, RefutesWhatCanNeverAgree) {
  EXPECT_EQ(places("fn f(x: f32[n]) -> f32[n + 1] = x"), "E0501@1:33");
  EXPECT_EQ(places("fn f(x: f32[n, 3]) -> f32[n, 4] = x"), "E0501@1:35");
}

TEST(CheckDims, MultiplesTellListedNames) {
  const std::string half = "fn half<n>(x: f32[2 * n]) -> f32[n] = x[0..n]\n";
  EXPECT_TRUE(isGood("export " + half +
                     "fn g(x: f32[k], y: f32[6 * k]) -> "
                     "f32[3 * k] = half(y)\n"));
  EXPECT_TRUE(isGood("export fn f<n>(x: f32[n * 3, n]) -> i64 = n"));
  // An odd extent, one that need not be even, and what is no multiple.
  EXPECT_EQ(places(half + "fn g(x: f32[5]) -> f32 = sum(half(x))"),
            "E0605@2:30");
  EXPECT_EQ(places(half + "fn g(x: f32[k]) -> f32 = sum(half(x))"),
            "E0605@2:30");
  EXPECT_EQ(places("export fn f<n>(x: f32[n + 1]) -> i64 = n"), "E0612@1:11");
  EXPECT_EQ(places("export fn f<n, m>(x: f32[n * m]) -> i64 = n"),
            "E0612@1:11");
  EXPECT_TRUE(isGood("export fn f<n>(x: f32[3 * n - 1]) -> i64 = n"));
  // A struct's parameter is bound, but its tensors must tell it, too: an n that
  // a short tensor made negative would break what has been proved.
  const std::string longer = "struct S<n> { w: f32[n + 3] }\n";
  const std::string three = "fn f(s: S<n>) -> f32[3] = s.w[n..n + 3]\n";
  EXPECT_TRUE(isGood(longer + three));
  EXPECT_EQ(places(longer + "export " + three), "E0612@2:11");
  EXPECT_EQ(places("struct S<n, m> { a: f32[n], b: f32[n + m] }\n"
                   "export fn f(s: S<n, m>) -> i64 = m"),
            "E0612@2:11");
  EXPECT_TRUE(isGood("struct S<n> { a: f32[n + 1], b: f32[2 * n] }\n"
                     "export fn f(s: S<n>) -> i64 = n"));
  // Not listed: nothing binds it.
  EXPECT_EQ(places("fn f(x: f32[2 * n]) -> i64 = n"), "E0308@1:17");
}

TEST(CheckDims, AsksForAsWhereNothingIsProved) {
  EXPECT_EQ(places("fn f(x: f32[n], y: f32[m]) -> f32[n] = y"), "E0502@1:40");
  EXPECT_TRUE(isGood("fn f(x: f32[n], y: f32[m]) -> f32[n] = y as f32[n]"));
}

TEST(CheckDims, NamedAxesNeverStretch) {
  EXPECT_EQ(places("fn f(x: f32[n, m], y: f32[n, 1]) -> f32[n, m] = x + y"),
            "");
  EXPECT_EQ(places("fn f(x: f32[n, m], y: f32[n]) -> f32[n, m] = x + y"),
            "E0502@1:46");
  // The caller's 1 does not stretch what the callee calls m.
  EXPECT_EQ(places("fn f(x: f32[n], y: f32[m]) -> f32[n] = x + y\n"
                   "fn g(x: f32[3], y: f32[1]) -> f32[3] = f(x, y)"),
            "E0502@1:40");
}

TEST(CheckDims, LetsOfDimensionsAreDimensions) {
  EXPECT_TRUE(isGood("fn f(x: f32[2 * n], y: f32[n]) -> f32[n] {\n"
                     "  let k = (2 * n) / 2\n"
                     "  x[0..k]\n"
                     "}"));
}

TEST(CheckDims, SlicesOfRunTimePlacesHaveKnownExtents) {
  EXPECT_TRUE(isGood("fn f(x: f32[9], k: i64) -> f32[2] = x[k..k + 2]\n"
                     "fn g(x: f32[9], k: i32) -> f32[2] = x[k + 1..k + 3]"));
}

TEST(CheckNames, TakenAlreadyAreNotDeclared) {
  EXPECT_EQ(places("import init\n"
                   "fn init(x: f32) -> f32 = x\n"
                   "test \"a\" { assert(init(1.0) > 0.0) }"),
            "E0302@2:4 E0309@3:19");
  EXPECT_EQ(places("const Pair = 1\nexport struct Pair { x: f32 }"),
            "E0302@2:15");
}

TEST(CheckAttention, RefusesWhatDoesNotFit) {
  auto codes = [](const std::string &call) {
    std::string text =
        "fn f(q: f32[h, n, 8], k: f32[h, m, 8], v: f32[h, m, 4], "
        "b: bool[n, m], i: i32[n, m], s: f32) -> f32[h, n, 4] = ";
    std::vector<std::string> found = Checked(text + call).getCodes();
    return found.empty() ? "" : found[0];
  };
  EXPECT_EQ(codes("attention(q, k, v)"), "");
  EXPECT_EQ(codes("attention(q, k, v, mask = b, causal = true, scale = 0.5)"),
            "");
  EXPECT_EQ(codes("attention(q, q, v)"), "E0502");
  EXPECT_EQ(codes("attention(q, v, v)"), "E0501");
  EXPECT_EQ(codes("attention(q, k[0], v)"), "E0503");
  EXPECT_EQ(codes("attention(q[0, 0], k, v)"), "E0503");
  EXPECT_EQ(codes("attention(q, k, f64(v))"), "E0402");
  EXPECT_EQ(codes("attention(i, k, v)"), "E0404");
  EXPECT_EQ(codes("attention(q, k, v, mask = i)"), "E0404");
  EXPECT_EQ(codes("attention(q, k, v, mask = b.T)"), "E0502");
  EXPECT_EQ(codes("attention(q, k, v, scale = s)"), "E0607");
  EXPECT_EQ(codes("attention(q, k, v, causal = s > 0.0)"), "E0607");
}

TEST(CheckLiterals, TakeTheTypeAroundThem) {
  EXPECT_TRUE(isGood("const HALF = 0.5\n"
                     "fn f(x: f64[n]) -> f64[n] = 2 * x + HALF - -1\n"
                     "fn g(x: bf16) -> bf16 = if x > 0 { x } else { 0.5 }\n"
                     "fn h(x: f64) -> f64[3] = [1, x, 2.5]\n"
                     "fn k() -> f32 = 1.5\n"
                     "fn l() -> i64 = 3\n"
                     "fn m(x: f64) -> f64 = x * sqrt(2)\n"
                     "fn o() -> i32 = i32(2.9)"));
}

TEST(CheckLiterals, MustFit) {
  EXPECT_EQ(places("fn f() -> u8 = 256"), "E0403@1:16");
  EXPECT_EQ(places("fn f() -> i8 = -128"), "");
  EXPECT_EQ(places("fn f() -> f32 = 16777217"), "E0403@1:17");
  EXPECT_EQ(places("fn f(x: i32) -> i32 = x + 1.5"), "E0402@1:27");
}

TEST(CheckTypes, NamesBothDTypes) {
  Checked checked("fn f(x: f32[n], y: f64[n]) -> f32[n] = x * y");
  EXPECT_NE(checked.getMessages().find("mixes f32 and f64"), std::string::npos)
      << checked.getMessages();
}

TEST(CheckNames, SuggestsWithAFix) {
  Checked checked("fn f(velocity: f32) -> f32 = velocty * 2");
  ASSERT_EQ(checked.getPlaces(), "E0301@1:30");
  const Diagnostic &d = checked.diagnostics.getAll()[0];
  ASSERT_EQ(d.fixits.size(), 1u);
  EXPECT_EQ(d.fixits[0].text, "velocity");
}

TEST(CheckNames, OneMistakeIsOneMessage) {
  EXPECT_EQ(places("fn f(x: f32[n]) -> f32[n] {\n"
                   "  let a = nope(x)\n"
                   "  let b = a + x\n"
                   "  b * a\n"
                   "}"),
            "E0301@2:11");
}

TEST(CheckNames, SeveralMistakesInOneRun) {
  EXPECT_EQ(places("fn f(x: f32) -> f32 = nope\n"
                   "fn g(x: f32) -> f64 = x"),
            "E0301@1:23 E0402@2:23");
}

TEST(CheckModules, FindsNeighbours) {
  Checked checked("import ./layers\n"
                  "fn f(x: f32) -> f32 = layers.double(x)",
                  {{"layers.astra", "fn double(x: f32) -> f32 = 2 * x"}});
  EXPECT_EQ(checked.getMessages(), "");
}

TEST(CheckModules, CirclesAreErrors) {
  Checked checked("import ./a\nfn f(x: f32) -> f32 = x",
                  {{"a.astra", "import ./b"}, {"b.astra", "import ./a"}});
  EXPECT_EQ(checked.getCodes(), std::vector<std::string>{"E0304"});
}

TEST(CheckModules, SaysWhereItLooked) {
  Checked checked("import ./nowhere");
  EXPECT_NE(checked.getMessages().find("nowhere.astra"), std::string::npos);
}

TEST(CheckGenerics, InferAndCheckClasses) {
  EXPECT_TRUE(isGood(
      "fn norm2<T: float>(x: T[..b, n]) -> T[..b] = sum(x * x, axis = -1)\n"
      "fn f(x: f32[3, 4]) -> f32[3] = norm2(x)\n"
      "fn g(x: f64[2, 3, 4]) -> f64[2, 3] = norm2(x)\n"
      "fn heads<h: int>(x: f32[n, h * d], y: f32[d]) -> f32[n, h, d] = "
      "reshape(x, [n, h, d])\n"
      "fn k(x: f32[n, 8], y: f32[2]) -> f32[n, 4, 2] = heads(x, y, h = 4)"));
}

TEST(CheckGenerics, InstancesAreShared) {
  Checked checked("fn id<T: float>(x: T[..b]) -> T[..b] = x\n"
                  "fn f(x: f32[n], y: f32[m], z: f32[3, 4]) -> f32[n] {\n"
                  "  let a = id(y)\n"
                  "  let c = id(z)\n"
                  "  id(x)\n"
                  "}");
  ASSERT_EQ(checked.getMessages(), "");
  unsigned count = 0;
  for (const hir::FnInstance &fn : checked.program->instances)
    count += fn.name == "id";
  // f32 with 0, 1 and 2 axes, and f64 with 2 (the representative).
  EXPECT_EQ(count, 4u);
}

TEST(CheckGenerics, TreesAreSharedUpToDimensionNames) {
  Checked checked("struct P<n> { w: f32[n] }\n"
                  "fn twice<T>(p: T) -> T = p + p\n"
                  "fn f(a: P<i>, b: P<j>) -> (P<i>, P<j>) = "
                  "(twice(a), twice(b))");
  ASSERT_EQ(checked.getMessages(), "");
  unsigned count = 0;
  for (const hir::FnInstance &fn : checked.program->instances)
    count += fn.name == "twice";
  EXPECT_EQ(count, 2u); // this and the representative
}

TEST(CheckTransforms, RefuseIntegersByName) {
  Checked checked("struct S { w: f32, steps: i32 }\n"
                  "fn loss(s: S) -> f32 = s.w\n"
                  "fn f(s: S) -> S = grad(loss)(s)");
  ASSERT_EQ(checked.getCodes(), std::vector<std::string>{"E0702"});
  EXPECT_NE(checked.getMessages().find("steps"), std::string::npos);
}

TEST(CheckTransforms, NestToAnyOrder) {
  EXPECT_TRUE(isGood(
      "fn f(x: f32) -> f32 = x ** 3\n"
      "fn g(x: f32) -> f32 = grad(grad(grad(f)))(x)\n"
      "fn h(x: f32[n]) -> f32[n, n] = hessian(|v| sum(v ** 3))(x)\n"
      "fn j(x: f32[n]) -> f32[n, n] = jacobian(|v| exp(v))(x)\n"
      "fn p(x: f32[n]) -> f32[n] {\n"
      "  let (y, pull) = vjp(|v| exp(v), x)\n"
      "  pull(y)\n"
      "}\n"
      "fn t(x: f32[n]) -> f32[n] = jvp(|v| exp(v), (x,), (x,)).1\n"
      "fn v(x: f32[b, n]) -> f32[b, n] = vmap(grad(|r| sum(r * r)))(x)"));
}

TEST(CheckTransforms, LiteralsInTuplesTakeTheParametersTypes) {
  EXPECT_TRUE(
      isGood("fn square(x: f64) -> f64 = x * x\n"
             "fn scaled(x: f64[n], s: f64) -> f64[n] = s * x\n"
             "fn f() -> (f64, f64) = jvp(square, (1.0,), (1.0,))\n"
             "fn g() -> (f64, f64) = jvp(|v: f64| v * v, (1.0,), (1.0,))\n"
             "fn h() -> (f64[2], f64[2]) =\n"
             "  jvp(scaled, ([1.0, 2.0], 3.0), ([0.5, 0.5], 1.0))\n"
             "fn k() -> (f32, f32) = jvp(|v| v * v, (1.0,), (1.0,))"));
}

TEST(CheckTransforms, AJacobianByAStructIsOneOfTables) {
  EXPECT_TRUE(isGood(
      "struct Line { slope: f32, offsets: f32[3] }\n"
      "fn at(l: Line, x: f32[n]) -> f32[n] = l.slope * x + sum(l.offsets)\n"
      "fn slopes(l: Line, x: f32[n]) -> f32[n] = jacobian(at)(l, x).slope\n"
      "fn offsets(l: Line, x: f32[n]) -> f32[n, 3] =\n"
      "  jacobian(at)(l, x).offsets\n"
      "fn both(l: Line, x: f32[n]) -> f32[n, n] =\n"
      "  jacobian(at, wrt = (0, 1))(l, x).1\n"
      "fn mixed(x: f32[n], y: f32[m]) -> f32[n, m] =\n"
      "  jacobian(grad(|v: f32[n], w: f32[m]| sum(v) * sum(w), wrt = 0),\n"
      "           wrt = 1)(x, y)\n"
      "fn pair(p: (f32, f32[2]), x: f32[n]) -> f32[n, 2] =\n"
      "  jacobian(|q: (f32, f32[2])| q.0 * x + sum(q.1))(p).1"));
}

TEST(CheckLimits, ExtentsOfWindowsThatLeave64BitsAreTold) {
  std::string most = std::to_string(INT64_MAX);
  auto conv = [&](const std::string &option) {
    return places("fn f(x: f32[1, 1, n], w: f32[1, 1, 3]) -> f32[1, 1, n] =\n"
                  "  conv(x, w, " +
                  option + " = " + most + ")");
  };
  EXPECT_EQ(conv("padding"), "E0506@2:3");
  EXPECT_EQ(conv("dilation"), "E0506@2:3");
  EXPECT_EQ(places("fn f(x: f32[n]) -> f32[n] =\n  pad(x, [(" + most + ", " +
                   most + ")])"),
            "E0506@2:3");
}

TEST(CheckLimits, DeepAndWideProgramsEndInAMessage) {
  std::string chain = "fn f(x: f32) -> f32 = x";
  for (int i = 0; i < 20000; ++i)
    chain += " + x";
  EXPECT_TRUE(Checked(chain).diagnostics.hasErrors());
  std::string doubling = "fn f(x: f32) -> f32 {\n  let f0 = |v| v * 2\n";
  for (int i = 1; i < 60; ++i) {
    std::string last = "f" + std::to_string(i - 1);
    doubling += "  let f" + std::to_string(i) + " = |v| " + last + "(v) + " +
                last + "(v)\n";
  }
  doubling += "  f59(x)\n}";
  EXPECT_EQ(Checked(doubling).getCodes(), std::vector<std::string>{"E0208"});
}

TEST(CheckLoops, StatesKeepTheirTypes) {
  EXPECT_EQ(places("fn f(x: f32[n]) -> f32[n] = loop (y = 0.0) for t in 0..3 "
                   "{ x }"),
            "E0801@1:60");
  EXPECT_EQ(places("fn f(x: f32[n]) -> f32 = loop (y = 0.0) while y < 3 "
                   "{ (y, y) }"),
            "E0801@1:55");
  EXPECT_EQ(places("fn f(x: f32[n], z: f32[m]) -> f32[n] = loop (x) for t in "
                   "0..3 { z }"),
            "E0502@1:65");
}

//===-- Hints -------------------------------------------------------------===//

static void hints(const std::string &text, const std::string &part) {
  std::string messages = Checked(text).getMessages();
  EXPECT_NE(messages.find(part), std::string::npos) << messages;
}

TEST(CheckHints, NamesOfOtherLanguages) {
  hints("fn f(x: f32[n]) -> i64 = len(x)", "with `x: f32[n]` it is `n`");
  hints("fn f(x: f32) -> f32 = np.exp(x)", "built in");
  hints("fn f(x: f32) -> f32 = nn.dense(x)", "`import nn`");
  hints("fn f(x: f32[n]) -> f32 = x.sum()", "`sum(x)`");
  hints("fn f(x: f32[n]) -> i64 = x.shape", "it is `n`");
  hints("fn f(x: tensor) -> f32 = 1.0", "`f32[n, 64]`");
  hints("fn f(x: f32[N]) -> f32 = sum(x)", "small letter");
  hints("fn f(x: f32[n]) -> f32[n] = grad(|v| sum(v), x)", "`grad(f)(x)`");
}

TEST(CheckHints, SayAWayOut) {
  const char *programs[] = {
      // E0501
      "fn f(x: f32[n], y: f32[n + 1]) -> f32[n] = x + y",
      "fn f(x: f32[3]) -> f32[4] = x",
      // E0510
      "fn f(x: f32[1, 1, 8], w: f32[1, 1, 3]) -> f32[1, 1, 6] =\n"
      "  conv(x, w, stride = 0)",
      "fn f(x: f32[1, 1, 8], w: f32[1, 1, 3]) -> f32[1, 1, 6] =\n"
      "  conv(x, w, stride = [1, 1])",
      "fn f(x: f32[1, 1, 8], w: f32[1, 1, 3]) -> f32[1, 1, 6] =\n"
      "  conv(x, w, padding = [1, 1])",
      "fn f(x: f32[1, 1, 8], w: f32[1, 1, 3]) -> f32[1, 1, 6] =\n"
      "  conv(x, w, padding = [(1, 2, 3)])",
      "fn f(x: f32[1, 2, 8], w: f32[3, 1, 3]) -> f32[1, 3, 6] =\n"
      "  conv(x, w, groups = 2)",
      // E0607
      "fn f(x: f32[n, d], k: i64) -> f32[d] = sum(x, axis = k)",
      "fn f(x: f32[n], k: i64) -> f32 = polygamma(k, sum(x))",
      "fn f(a: f32[n, n], b: f32[n], c: bool) -> f32[n] =\n"
      "  solve_triangular(a, b, lower = c)",
      "struct A { a: f32 }\n"
      "fn f(x: f32) -> f32 = [A { a: x } for i in 0..20000][0].a",
      // E0701
      "fn f(x: f32[n]) -> f32[n] = grad(argmax)(x)",
      "fn f(x: f32[n]) -> f32[n] = jacobian(argsort)(x)",
      "fn f(x: f32[n]) -> f32 = jvp(|v| argmax(v), (x,), (x,)).1",
      "fn f(x: f32[n]) -> f32[n] = jacobian(|v| (v, v))(x)",
      // E0703
      "fn f(x: f32) -> f32 = grad(|v| v, wrt = -1)(x)",
      "fn f(x: f32) -> f32 = grad(|v| v, wrt = (0, 0))(x)",
      "fn f(x: f32) -> f32 = grad(|v| v, wrt = 1)(x)",
      "fn f(x: f32) -> f32 = hessian(|v, w| v * w, wrt = (0, 1))(x, x)",
      // E0705
      "fn f(x: f32[n]) -> f32[n] = vmap(|v| v, axes = (0, 0))(x)",
      "fn f(x: f32[n]) -> f32[n] = vmap(|v| v, axes = none)(x)",
      "fn f(x: f32[n]) -> f32[n] = vmap(|v| v, axes = -1)(x)",
      "fn f(x: f32[n]) -> f32[n] = vmap(|v| v, axes = 1)(x)"};
  for (const char *program : programs)
    hints(program, "= help: ");
}

TEST(CheckHints, ShortNamesAreNoMisspellings) {
  for (const char *text :
       {"struct P { a: f32 }\nfn f(p: P) -> f32 = p.c", "fn f() -> i64 = a",
        "fn g(a: f32) -> f32 = a\nfn f() -> f32 = g(b = 1.0)"})
    EXPECT_EQ(Checked(text).getMessages().find("did you mean"),
              std::string::npos)
        << text;
  hints("fn f(x: f32[n]) -> f32[n] = rellu(x)", "did you mean `relu`");
  hints("struct P { slope: f32 }\nfn f(p: P) -> f32 = p.slop",
        "did you mean `slope`");
}
