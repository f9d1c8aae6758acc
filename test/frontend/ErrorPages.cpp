// The shared test of error pages. Knows the table of codes and no more.
#include "test/frontend/ErrorPages.h"
#include "frontend/syntax/Diagnostics.h"
#include "frontend/syntax/Explain.h"
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

using namespace astra;
using namespace astra::test;

/// Pages of what no small program can show: files and sizes.
static bool hasNoExample(const std::string &code) {
  bool isOfPasses = code == "E0707" || code == "E0708"; // behind the checker
  return code == "E0208" || code == "E0304" || isOfPasses ||
         code.substr(0, 3) == "E09";
}

static std::string decodeBytes(const std::string &text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "\\x") == 0 && i + 3 < text.size()) {
      result += char(std::strtoul(text.substr(i + 2, 2).c_str(), nullptr, 16));
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::vector<Program> test::readPrograms(const std::string &markdown) {
  std::vector<Program> programs;
  std::istringstream lines(markdown);
  std::string line;
  bool isOpen = false, isAstra = false;
  while (std::getline(lines, line)) {
    if (line.compare(0, 3, "```") != 0) {
      if (isOpen && isAstra)
        programs.back().text += line + "\n";
      continue;
    }
    isOpen = !isOpen;
    isAstra = line.compare(3, 5, "astra") == 0;
    if (isOpen && isAstra)
      programs.push_back({line.substr(3), ""});
  }
  for (Program &program : programs)
    if (program.language == "astra-bytes")
      program.text = decodeBytes(program.text);
  return programs;
}

static void testPage(const std::string &code, const std::string &summary,
                     const Check &check) {
  SCOPED_TRACE(code);
  std::string page = getExplanation(code).str();
  ASSERT_FALSE(page.empty()) << "no page docs/errors/" << code << ".md";
  EXPECT_EQ(page.substr(0, page.find('\n')), "# " + code + ": " + summary);
  std::vector<Program> programs = readPrograms(page);
  if (hasNoExample(code)) {
    EXPECT_TRUE(programs.empty());
    return;
  }
  ASSERT_EQ(programs.size(), 2u) << "a page has a wrong and a right program";
  EXPECT_EQ(check(programs[0].text), std::vector<std::string>{code});
  EXPECT_EQ(check(programs[1].text), std::vector<std::string>{});
}

void test::testErrorPages(
    const std::function<bool(const std::string &code)> &isMine,
    const Check &check) {
  std::set<std::string> seen;
#define DIAG(code, name, severity, summary)                                    \
  EXPECT_TRUE(seen.insert(#code).second) << #code << " is used twice";         \
  if (isMine(#code))                                                           \
    testPage(#code, summary, check);
#include "frontend/syntax/Diagnostics.def"
}

void test::testDocument(
    const std::string &path,
    const std::function<bool(const std::string &code)> &isMine,
    const Check &check) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  std::vector<Program> programs = readPrograms(text.str());
  EXPECT_FALSE(programs.empty()) << path;
  for (const Program &program : programs) {
    SCOPED_TRACE(program.language + "\n" + program.text);
    std::vector<std::string> expected;
    size_t blank = program.language.find(' ');
    if (blank != std::string::npos &&
        isMine(program.language.substr(blank + 1)))
      expected.push_back(program.language.substr(blank + 1));
    EXPECT_EQ(check(program.text), expected);
  }
}
