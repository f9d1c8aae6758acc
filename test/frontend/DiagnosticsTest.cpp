// The engine and the looks of messages.
#include "frontend/syntax/Diagnostics.h"
#include <gtest/gtest.h>

using namespace astra;

namespace {
struct Fixture {
  SourceManager sources;
  DiagnosticEngine engine{sources};
  uint32_t file;
  explicit Fixture(std::string text)
      : file(sources.addBuffer("t.astra", std::move(text))) {}
  Diagnostic &report(uint32_t begin, uint32_t end, std::string message = "m") {
    return engine.report(DiagCode::unexpected_token, {file, begin, end},
                         std::move(message));
  }
  std::string print() {
    std::string text;
    llvm::raw_string_ostream os(text);
    engine.print(os);
    return text;
  }
};
} // namespace

TEST(Diagnostics, OneLineWithDetails) {
  Fixture f("let a = 1\nlet b = a @ c\n");
  Diagnostic &diagnostic = f.report(18, 23, "these do not agree");
  diagnostic.expected = "f32[n]";
  diagnostic.found = "f32[m]";
  diagnostic.help = "say `as`";
  EXPECT_EQ(f.print(), R"(t.astra:2:9: error[E0201]: these do not agree
  2 | let b = a @ c
    |         ^~~~~
    = expected: f32[n]
    = found: f32[m]
    = help: say `as`
)");
}

TEST(Diagnostics, SeveralLines) {
  Fixture f("f(\n  a,\n  b,\n  c)\nx\n");
  f.report(0, 17);
  EXPECT_EQ(f.print(), R"(t.astra:1:1: error[E0201]: m
  1 | f(
    | ^~
    ...
  4 |   c)
    |   ~~
)");
  Fixture two("f(\n  a)\n");
  two.report(0, 7);
  EXPECT_EQ(two.print(), R"(t.astra:1:1: error[E0201]: m
  1 | f(
    | ^~
  2 |   a)
    |   ~~
)");
}

TEST(Diagnostics, TabsAndWideCharacters) {
  Fixture tabs("\ta\tb\n");
  tabs.report(3, 4);
  EXPECT_EQ(tabs.print(), "t.astra:1:4: error[E0201]: m\n"
                          "  1 |     a   b\n"
                          "    |         ^\n");
  // Two bytes and one cell, then three bytes and two cells.
  Fixture wide("\xC3\xA9\xE6\xBC\xA2 x\n");
  wide.report(6, 7);
  EXPECT_EQ(wide.print(), "t.astra:1:4: error[E0201]: m\n"
                          "  1 | \xC3\xA9\xE6\xBC\xA2 x\n"
                          "    |     ^\n");
}

TEST(Diagnostics, TerminalIsSafe) {
  Fixture f("a\x1B[31m\n");
  f.report(0, 1);
  EXPECT_EQ(f.print().find('\x1B'), std::string::npos);
}

TEST(Diagnostics, LongLinesAreCut) {
  Fixture f(std::string(5000, 'a') + "!" + std::string(5000, 'b'));
  f.report(5000, 5001);
  std::string text = f.print();
  EXPECT_LT(text.size(), 400u);
  EXPECT_NE(text.find("a!b"), std::string::npos);
  size_t mark = text.rfind('^'), line = text.rfind('\n', mark);
  size_t shown = text.rfind('\n', line - 1);
  EXPECT_EQ(text[shown + (mark - line)], '!');
}

TEST(Diagnostics, EndOfFile) {
  Fixture f("a\n");
  f.report(2, 2);
  EXPECT_EQ(f.print(), "t.astra:2:1: error[E0201]: m\n  2 | \n    | ^\n");
  Fixture outside("a");
  outside.report(7, 9);
  EXPECT_NE(outside.print().find("t.astra:1:2"), std::string::npos);
  Fixture empty("");
  empty.report(0, 0);
  EXPECT_NE(empty.print().find("t.astra:1:1"), std::string::npos);
}

TEST(Diagnostics, NotesAndFixIts) {
  Fixture f("let b = rlu(x)\n");
  Diagnostic &diagnostic = f.report(8, 11, "unknown name");
  diagnostic.fixits.push_back(
      {{f.file, 8, 11}, "relu", "did you mean `relu`?"});
  diagnostic.notes.push_back({{f.file, 4, 5}, "for this"});
  EXPECT_EQ(f.print(), R"(t.astra:1:9: error[E0201]: unknown name
  1 | let b = rlu(x)
    |         ^~~
    = fix: did you mean `relu`?
  1 | let b = relu(x)
    |         ++++
t.astra:1:5: note: for this
  1 | let b = rlu(x)
    |     ^
)");
}

TEST(Diagnostics, SourceOrderAndDuplicates) {
  Fixture f("abc\n");
  f.report(2, 3, "second");
  f.report(0, 1, "first");
  f.report(2, 3, "again");
  EXPECT_EQ(f.engine.getErrorCount(), 2u);
  std::string text = f.print();
  EXPECT_LT(text.find("first"), text.find("second"));
  EXPECT_EQ(text.find("again"), std::string::npos);
}

TEST(Diagnostics, ManyAreCounted) {
  Fixture f(std::string(10000, 'a'));
  for (unsigned i = 0; i < 5000; ++i)
    f.report(i, i + 1);
  EXPECT_EQ(f.engine.getErrorCount(), 5000u);
  EXPECT_NE(f.print().find("and 4950 more errors\n"), std::string::npos);
}

TEST(Diagnostics, Rollback) {
  Fixture f("abc\n");
  f.report(0, 1);
  size_t mark = f.engine.mark();
  f.report(1, 2);
  f.engine.rollback(mark);
  EXPECT_EQ(f.engine.getErrorCount(), 1u);
  EXPECT_EQ(f.engine.getAll().size(), 1u);
}

TEST(Source, LinesAndColumns) {
  Fixture f("a\xC3\xA9z\r\nb");
  EXPECT_EQ(f.sources.getLineColumn(f.file, 3).column, 3u);
  EXPECT_EQ(f.sources.getLineColumn(f.file, 6).line, 2u);
  EXPECT_EQ(f.sources.getLine(f.file, 0), "a\xC3\xA9z");
  EXPECT_EQ(f.sources.getLine(f.file, 6), "b");
}
