// What the parser reports about wrong programs, where, and that it goes on.
#include "test/frontend/Parse.h"

using namespace astra;
using namespace astra::test;

static std::string getPlaces(std::string text) {
  return Parsed(std::move(text)).getPlaces();
}

TEST(Recovery, OneErrorAStatement) {
  EXPECT_EQ(getPlaces("fn f(x: f32) -> f32 {\n"
                      "  let a = 2.0 * / x )\n"
                      "  let = 3\n"
                      "  b = 4\n"
                      "  x y\n"
                      "  a\n"
                      "}\n"
                      "fn g(x: f32) -> f32 = x +\n"
                      "const lower = 1\n"),
            "E0202@2:17 E0204@3:7 E0217@4:5 E0219@5:5 E0202@8:26 E0215@9:7");
}

TEST(Recovery, LaterItemsAreKept) {
  Parsed parsed("fn f(x: ) -> f32 = x\n"
                "struct { a: f32 }\n"
                "fn g(x: f32) -> f32 = x\n"
                "42\n"
                "test \"t\" { assert(true) }\n");
  EXPECT_EQ(parsed.getPlaces(), "E0203@1:9 E0201@2:8 E0205@4:1");
  EXPECT_EQ(parsed.module->fns.size(), 2u);
  EXPECT_EQ(parsed.module->tests.size(), 1u);
}

TEST(Recovery, ErrorsInSeveralArguments) {
  EXPECT_EQ(getPlaces("fn f(x: f32) -> f32 = g(*, x, /, h(]), x)\n"),
            "E0202@1:25 E0202@1:31 E0202@1:36");
}

TEST(Recovery, UnclosedBrackets) {
  EXPECT_EQ(getPlaces("fn f(x: f32) -> f32 {\n  g(x\n}\n"), "E0206@2:4");
  EXPECT_EQ(
      getPlaces("fn f(x: f32) -> f32 {\n  let a = [x\n  let b = x\n  b\n}\n"),
      "E0206@2:11");
  EXPECT_EQ(
      getPlaces("fn f(x: f32) -> f32 {\n  x\n\nfn g(x: f32) -> f32 = x\n"),
      "E0206@1:21");
  EXPECT_EQ(getPlaces("fn f(x: f32) -> f32 = (x"), "E0206@1:23");
  EXPECT_EQ(getPlaces("struct A { a: f32\n\nfn g(x: f32) -> f32 = x\n"),
            "E0206@1:10");
}

TEST(Recovery, AHeadWithoutItsParenthesisKeepsItsBody) {
  EXPECT_EQ(
      getPlaces("fn f(x: f32[n], y: f32[n] -> f32 {\n  let a = * x\n  a\n}\n"),
      "E0201@1:27 E0202@2:11");
}

TEST(Recovery, MissingCommaAtALineEnd) {
  Parsed parsed("struct A {\n  a: f32\n  b: f32\n}\n");
  EXPECT_EQ(parsed.getPlaces(), "E0201@2:9");
  EXPECT_EQ(parsed.module->structs[0]->fields.size(), 2u);
  EXPECT_EQ(parsed.diagnostics.getAll()[0].fixits[0].text, ",");
}

TEST(Recovery, ValuesWithErrorsAreErrorNodes) {
  Parsed parsed(
      "fn f(x: f32) -> f32 {\n  let a = { let b = 1 < x < 2\n x }\n  a\n}\n"
      "fn g(x: f32) -> f32 = sum(x for i, axis = 0)\n");
  std::string tree;
  llvm::raw_string_ostream os(tree);
  printAst(*parsed.module, os);
  EXPECT_NE(
      tree.find("          let b\n            <error>\n          name x\n"),
      std::string::npos)
      << tree;
  EXPECT_NE(tree.find("result f32\n    <error>\n"), std::string::npos) << tree;
}

TEST(Recovery, MissingCommaBetweenNames) {
  Parsed parsed("fn f(x: f32 y: f32) -> f32 = max(x y)\n");
  EXPECT_EQ(parsed.getPlaces(), "E0201@1:13 E0201@1:36");
  EXPECT_EQ(parsed.module->fns[0]->params.size(), 2u);
}

TEST(Recovery, FixIts) {
  auto getFix = [](const char *text) {
    Parsed parsed(text);
    auto &all = parsed.diagnostics.getAll();
    return all.size() == 1 && all[0].fixits.size() == 1 ? all[0].fixits[0].text
                                                        : parsed.getMessages();
  };
  EXPECT_EQ(getFix("const size = 1"), "Size");
  EXPECT_EQ(getFix("fn F() -> f32 = 1.0"), "f");
  EXPECT_EQ(getFix("const A = .5"), "0.5");
  EXPECT_EQ(getFix("const A = 1."), "1.0");
  EXPECT_EQ(getFix("fn f() -> f32 {\n  x = 1.0\n  x\n}"), "let ");
}

TEST(Recovery, WordsOfOtherLanguagesAreAnswered) {
  auto getHelp = [](const char *text) {
    Parsed parsed(text);
    auto &all = parsed.diagnostics.getAll();
    return all.empty() ? std::string() : all[0].help;
  };
  auto has = [&](const char *text, const char *part) {
    EXPECT_NE(getHelp(text).find(part), std::string::npos)
        << text << ": " << getHelp(text);
  };
  has("def f(x): return x", "`fn name");
  has("let a = 3", "`const NAME");
  has("fn f(x: bool, y: bool) -> bool = x and y", "`&&`");
  has("fn f(x: bool, y: bool) -> bool = all(x or y)", "`||`");
  has("fn f(x: f32) -> f32 { return x }", "last line");
  has("fn f(x: f32) -> f32 { let s = 0.0; for i in 0..3 { s }; s }", "loop (");
  has("fn f(x: f32) -> f32 =\n  let y = x\n  y", "braces");
  has("fn f(x: f32[n]) -> f32 = x[:, 0]", "a..b");
  has("fn f(x: f32) -> f32 = x if x > 0.0 else -x", "if c { a }");
  has("fn f(x: f32) -> f32 = x > 0.0 ? x : -x", "if c { a }");
  has("fn f(x: f32) -> f32 = x ^ 2", "x ** 2");
}

TEST(Recovery, CaseOfNames) {
  EXPECT_EQ(getPlaces("fn f<t: float, H: int, n, P>(X: t[n]) -> t = X\n"),
            "E0215@1:6 E0215@1:30");
  EXPECT_EQ(getPlaces("fn _f(_x: f32) -> f32 = _x\nstruct _A { _b: f32 }\n"),
            "");
  EXPECT_EQ(getPlaces("fn f(x: f32) -> f32 { let (A, _) = x; A }\n"),
            "E0215@1:28");
}

TEST(Recovery, RangesAndStringsAreNoValues) {
  EXPECT_EQ(getPlaces("const A = 0..4\n"), "E0211@1:12");
  EXPECT_EQ(getPlaces("fn f() -> i64 { let r = 0..4; r }\n"), "E0211@1:26");
  EXPECT_EQ(getPlaces("fn f() -> i64 = f(0..4)\n"), "E0211@1:20");
  EXPECT_EQ(getPlaces("fn f() -> i64 = (0..4)\n"), "E0211@1:19");
  EXPECT_EQ(getPlaces("fn f() -> i64 = [0..4]\n"), "E0211@1:19");
  EXPECT_EQ(getPlaces("const A = \"a\"\n"), "E0214@1:11");
  EXPECT_EQ(getPlaces("fn f() -> f32 = g(x = \"a\", \"b\" + 1)\n"),
            "E0201@1:32");
}

TEST(Recovery, LoopsNeedBothEnds) {
  EXPECT_EQ(getPlaces("fn f() -> i64 = loop (i = 0) for t in 4 { t }\n"),
            "E0201@1:39");
  EXPECT_EQ(getPlaces("fn f() -> i64 = loop (i = 0) for t in 0.. { t }\n"),
            "E0201@1:39");
  EXPECT_EQ(getPlaces("fn f() -> i64[4] = [i for i in 4]\n"), "E0201@1:32");
}

TEST(Recovery, InclusiveRange) {
  EXPECT_EQ(getPlaces("fn f() -> i64 = x[0..=4]\n"), "E0201@1:22");
}

TEST(Recovery, DeepNesting) {
  for (const char *unit :
       {"(", "[", "{", "-", "!", "|x| ", "if ", "x(", "a ** ", "1 + ", "f.",
        "loop (x = ", "on cpu {", "(|a| ", "x[", "a with [i] = ", "a |> ",
        "x as ", "A { a: "}) {
    std::string text = "fn f() -> f32 = ";
    for (int i = 0; i < 20000; ++i)
      text += unit;
    std::string places = getPlaces(text);
    EXPECT_EQ(places.substr(0, 5), "E0207") << unit;
    EXPECT_LT(places.size(), 20u) << unit;
  }
  for (const char *unit : {"(", "[", "fn(", "A<", "f32["}) {
    std::string text = "fn f(x: ";
    for (int i = 0; i < 20000; ++i)
      text += unit;
    EXPECT_EQ(getPlaces(text).substr(0, 5), "E0207") << unit;
  }
}

TEST(Recovery, ModerateNestingIsFine) {
  std::string text = "fn f(x: f32) -> f32 = ";
  EXPECT_EQ(
      getPlaces(text + std::string(100, '(') + "x" + std::string(100, ')')),
      "");
  std::string sum = text + "x";
  for (int i = 0; i < 400; ++i)
    sum += " + x * x";
  EXPECT_EQ(getPlaces(sum), "");
}

TEST(Recovery, GivesUpAfterTooManyErrors) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += "const a = 1\n";
  EXPECT_EQ(Parsed(text).diagnostics.getErrorCount(), 100u);
}

TEST(Recovery, EveryPrefixEnds) {
  std::string program =
      "/// d\nimport ./a\nexport struct P<n> { a: f32[n, ..b], b: [P<n>; 4] }\n"
      "export fn f<T: float>(x: T[n], e: f32 = 1e-5) -> (T[n], f32) on cuda(1) "
      "{\n"
      "  let (a, _) = loop (x = 1.0, y) for t in 0..n checkpoint { (x, y) }\n"
      "  if a < 1.0 { P { a, b: x } } else { x with [i] += \"q\" |> |v| -v ** "
      "2 }\n"
      "}\nderivative f(x: f32) vjp |dy| dy jvp |dx| sum(x[i] for i)\n"
      "test \"t\" { assert(x as f32[n] == [1.0 for i in 0..4]) }\n";
  for (size_t i = 0; i < program.size(); ++i) {
    Parsed whole(program.substr(0, i)), tail(program.substr(i));
    std::string gap = program;
    gap.erase(i, 3);
    Parsed broken(gap);
    EXPECT_TRUE(whole.module && tail.module && broken.module);
    broken.getMessages();
  }
}
