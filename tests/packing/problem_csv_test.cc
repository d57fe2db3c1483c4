// Reading CSV: what is accepted, and every error with its place. Writing: what is written reads
// back.
#include "src/packing/problem_csv.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "src/packing/planner.h"
#include "tests/packing/random_problem.h"

namespace cgrun {
namespace {

std::optional<MemoryProblem> Read(const std::string& text, Diagnostics& diagnostics) {
  return ReadProblemCsv(std::make_shared<SourceFile>(SourceFile{"p.csv", text}), diagnostics);
}

MemoryProblem ReadRight(const std::string& text) {
  Diagnostics diagnostics;
  std::optional<MemoryProblem> problem = Read(text, diagnostics);
  EXPECT_TRUE(problem && !diagnostics.has_errors()) << diagnostics.ToString();
  return problem.value_or(MemoryProblem());
}

// "line:column message | …" of all errors; every one has help.
std::string ErrorsOf(const std::string& text) {
  Diagnostics diagnostics;
  EXPECT_FALSE(Read(text, diagnostics));
  std::string errors;
  for (const Diagnostic& d : diagnostics.Sorted()) {
    errors += (errors.empty() ? "" : " | ") + std::to_string(d.mark.line) + ":" +
              std::to_string(d.mark.column) + " " + d.message;
    EXPECT_FALSE(d.help.empty()) << d.message;
  }
  return errors;
}

bool Same(const MemoryProblem& a, const MemoryProblem& b) {
  const auto same = [](const Buffer& x, const Buffer& y) {
    return x.bytes == y.bytes && x.lower == y.lower && x.upper == y.upper &&
           x.alignment == y.alignment && x.offset == y.offset && x.name == y.name;
  };
  return std::equal(a.buffers.begin(), a.buffers.end(), b.buffers.begin(), b.buffers.end(), same);
}

TEST(ReadProblemCsv, ReadsTheFormOfMiniMalloc) {
  const MemoryProblem problem = ReadRight("id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\n");
  EXPECT_TRUE(Same(problem, {{{4, 0, 3, 1, {}, "b1"}, {4, 3, 9, 1, {}, "b2"}}, {}}));
}

TEST(ReadProblemCsv, ReadsTheOlderFormsOfMiniMalloc) {
  const MemoryProblem wanted = {{{4, 0, 3, 1, {}, "b1"}, {4, 3, 9, 1, {}, "b2"}}, {}};
  EXPECT_TRUE(Same(ReadRight("buffer,start,end,size\nb1,0,2,4\nb2,3,8,4\n"), wanted));
  EXPECT_TRUE(Same(ReadRight("buffer_id,begin,upper,size\nb1,0,3,4\nb2,3,9,4\n"), wanted));
  EXPECT_EQ(ErrorsOf("id,lower,start,end,size\n"), "1:10 the column 'start' appears twice");
}

TEST(ReadProblemCsv, TakesColumnsInAnyOrderAndLenientLines) {
  const MemoryProblem problem = ReadRight(
      "\xEF\xBB\xBF\r\n offset ,size,id,upper,lower,alignment\r\n"
      "64,10,\"a, \"\"b\"\"\",9,-3, 64 \r\n   \r\n,0,\"c \",9,0,\r\n\n\n,7, \"d\" ,9,0,2");
  EXPECT_TRUE(
      Same(problem,
           {{{10, -3, 9, 64, 64, "a, \"b\""}, {0, 0, 9, 1, {}, "c "}, {7, 0, 9, 2, {}, "d"}}, {}}));
}

TEST(ReadProblemCsv, ATableOfDataIsNoListOfBuffers) {
  for (const char* table : {"size,weight,price\n1,2,3\n", "5.1,3.5,setosa\n", "id,age,label\n"}) {
    EXPECT_EQ(ErrorsOf(table),
              "1:1 this seems to be a table of data, not a list of buffers, whose first line names "
              "the columns id, lower, upper and size");
  }
}

TEST(ReadProblemCsv, CellsThatNoCommaPartsAreSaidToBe) {
  EXPECT_EQ(ErrorsOf("id;lower;upper;size\n1;0;3;4\n"),
            "1:1 no comma parts the cells of this line, as ; may do");
  EXPECT_EQ(ErrorsOf("id\tlower\tupper\tsize\n1\t0\t3\t4\n"),
            "1:1 no comma parts the cells of this line, as tabs may do");
}

TEST(ReadProblemCsv, ReportsWhatIsWrongWithTheHeader) {
  EXPECT_EQ(ErrorsOf(""), "0:1 the file is empty");
  EXPECT_EQ(ErrorsOf("\n \r\n"), "0:1 the file is empty");
  EXPECT_EQ(ErrorsOf("id,lower\n"),
            "1:1 the column 'upper' is missing | 1:1 the column 'size' is missing");
  EXPECT_EQ(ErrorsOf("\nid,lower,uper,size,id\n"),
            "2:1 the column 'upper' is missing | 2:10 unknown column 'uper' | 2:20 the column 'id' "
            "appears twice");
  Diagnostics diagnostics;
  Read("id,lower,uper,size\n", diagnostics);
  EXPECT_NE(diagnostics.ToString().find("help: did you mean 'upper'?"), std::string::npos);
}

TEST(ReadProblemCsv, ReportsAllErrorsOfAFile) {
  EXPECT_EQ(ErrorsOf("id,lower,upper,size,alignment,offset\n"
                     "a,0,x,1e3,64,\n"
                     "b,0,1,-1,3,-64\n"
                     "b,5,5,1,64,32\n"
                     ",0,,1,64,\n"
                     "c,0,1\n"
                     "d,0,1,99999999999999999999,64,\n"
                     "e,4,2,1,64,32\n"
                     "\"f,0,1,1,64,\n"
                     "\"g\"h,0,1,1,64,\n"),
            "2:5 the upper step 'x' is not a whole number | "
            "2:7 the size '1e3' is not a whole number | "
            "3:7 the size -1 of 'b' is negative | "
            "3:10 the alignment 3 of 'b' is not a power of two | "
            "3:12 the offset -64 of 'b' is negative | "
            "4:1 the id 'b' was used in line 3 | "
            "5:1 the id is missing | "
            "5:4 the upper step is missing | "
            "6:1 the line has 3 of the 6 cells that the header names | "
            "7:7 the size '99999999999999999999' does not fit in 64 bits | "
            "8:5 the lifespan [4, 2) of 'e' is empty | "
            "8:12 the offset 32 of 'e' is not a multiple of its alignment 64 | "
            "9:1 the quote is not closed | "
            "10:4 text behind a closing quote");
}

TEST(ReadProblemCsv, ReportsCollisionsAndSums) {
  Diagnostics diagnostics;
  Read("id,lower,upper,size,offset\na,0,2,8,0\nb,1,3,8,4\n", diagnostics);
  EXPECT_EQ(diagnostics.ToString(),
            "p.csv:3:9: error: the fixed offsets of 'a' and 'b' make them share bytes in step 1\n"
            "    b,1,3,8,4\n"
            "            ^\n"
            "help: move one of them, or leave its offset open; 'a' stands in line 2\n");
  EXPECT_EQ(ErrorsOf("id,lower,upper,size\na,0,1,4611686018427387904\nb,0,1,4611686018427387904\n"),
            "3:7 the buffers together, with their padding, exceed what 64-bit offsets can address");
}

TEST(ReadProblemCsv, GivesUpAfterAThousandErrors) {
  std::string text = "id,lower,upper,size\n";
  for (int i = 0; i < 5000; ++i) text += "x\n";
  Diagnostics diagnostics;
  EXPECT_FALSE(Read(text, diagnostics));
  EXPECT_EQ(diagnostics.error_count(), 1001);
  EXPECT_EQ(diagnostics.Sorted().back().message,
            "too many errors: the rest of the file was not read");
}

TEST(ReadProblemCsv, ReadsAHundredThousandBuffersAndNoMore) {
  std::string text = "id,lower,upper,size\n";
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + ",0,1,8\n";
  EXPECT_EQ(ReadRight(text).buffers.size(), 100'000u);
  EXPECT_EQ(ErrorsOf(text + "one,0,1,8\nx\n"), "100002:1 more than 100000 buffers");
}

TEST(WriteProblemCsv, WritesOnlyTheColumnsThatAreNeeded) {
  MemoryProblem problem = {{{4, 0, 3, 1, {}, "b1"}, {4, 3, 9, 1, {}, ""}}, {}};
  EXPECT_EQ(WriteProblemCsv(problem), "id,lower,upper,size\nb1,0,3,4\n1,3,9,4\n");
  const MemoryPlan plan = PlanMemory(problem);
  EXPECT_EQ(WriteProblemCsv(problem, &plan), "id,lower,upper,size,offset\nb1,0,3,4,0\n1,3,9,4,0\n");
  problem.buffers[1].alignment = 64;
  problem.buffers[0].offset = 128;
  EXPECT_EQ(WriteProblemCsv(problem),
            "id,lower,upper,size,alignment,offset\nb1,0,3,4,1,128\n1,3,9,4,64,\n");
}

TEST(WriteProblemCsv, MakesIdsUnique) {
  const MemoryProblem problem = {{{4, 0, 3, 1, {}, "a"},
                                  {4, 0, 3, 1, {}, "a"},
                                  {4, 0, 3, 1, {}, ""},
                                  {4, 0, 3, 1, {}, "2"},
                                  {4, 0, 3, 1, {}, "x\ny"}},
                                 {}};
  EXPECT_EQ(WriteProblemCsv(problem),
            "id,lower,upper,size\na,0,3,4\na#1,0,3,4\n2,0,3,4\n2#3,0,3,4\nx?y,0,3,4\n");
}

TEST(ProblemCsv, RoundTripsRandomProblems) {
  EXPECT_TRUE(rc::check("what is written reads back", [] {
    MemoryProblem problem = RandomProblem(*rc::gen::arbitrary<uint64_t>(), 20);
    const std::string prefix =
        *rc::gen::container<std::string>(rc::gen::elementOf<std::string>("ab \",.;#'\\"));
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      problem.buffers[i].name = prefix + "äé" + std::to_string(i) + (i % 3 == 0 ? prefix : "");
    }
    RC_ASSERT(Same(ReadRight(WriteProblemCsv(problem)), problem));
    const MemoryPlan plan = PlanMemory(problem);
    const MemoryProblem planned = ReadRight(WriteProblemCsv(problem, &plan));
    for (size_t i = 0; i < plan.offsets.size(); ++i) {
      problem.buffers[i].offset = plan.offsets[i];
    }
    RC_ASSERT(Same(planned, problem));
    RC_ASSERT(PlanMemory(planned).offsets == plan.offsets);
  }));
}

TEST(ProblemCsv, DamagedTextIsReadOrRefusedWithAReason) {
  int64_t read = 0, refused = 0;
  EXPECT_TRUE(rc::check("an error exactly where nothing is returned", [&] {
    std::string text = WriteProblemCsv(RandomProblem(*rc::gen::arbitrary<uint64_t>(), 6));
    const std::string damage("0129-+,\"\r\n ax\t\0\x80", 16);
    for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
      const size_t where = *rc::gen::inRange<size_t>(0, text.size());
      text.replace(where, *rc::gen::inRange<size_t>(0, 2), 1, *rc::gen::elementOf(damage));
    }
    Diagnostics diagnostics;
    const auto problem = Read(text, diagnostics);
    RC_ASSERT(problem.has_value() != diagnostics.has_errors());
    RC_ASSERT(problem.has_value() == diagnostics.ToString().empty());
    if (problem) RC_ASSERT(ProblemFaults(*problem).empty());
    (problem ? read : refused) += 1;
  }));
  EXPECT_GT(read, 50);
  EXPECT_GT(refused, 50);
}

}  // namespace
}  // namespace cgrun
