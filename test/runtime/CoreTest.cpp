// Parts below the C API: the thread pool, the processors that the system lets
// a process use, dimension expressions, memory and the machine's nodes.
#include "core/CpuCount.h"
#include "core/DimCode.h"
#include "core/Handles.h"
#include "core/Memory.h"
#include "core/Numa.h"
#include "devices/cpu/ThreadPool.h"
#include "io/Json.h"
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <numeric>
#include <sched.h>
#include <set>
#include <unistd.h>

using namespace astra;

namespace {

/// Counts how often each index is run, and checks the cuts.
struct Tally {
  std::vector<std::atomic<int>> counts;
  int64_t grain;
  std::atomic<int> badCuts{0};
  std::mutex mutex;
  std::set<std::thread::id> threads;

  Tally(int64_t count, int64_t grain) : counts(size_t(count)), grain(grain) {}
  static void run(void *context, int64_t begin, int64_t end) {
    auto &self = *static_cast<Tally *>(context);
    int64_t count = int64_t(self.counts.size());
    if (begin >= end || begin % self.grain ||
        (end % self.grain && end != count))
      ++self.badCuts;
    for (int64_t i = begin; i < end; ++i)
      ++self.counts[size_t(i)];
    std::lock_guard<std::mutex> lock(self.mutex);
    self.threads.insert(std::this_thread::get_id());
  }
};

TEST(ThreadPool, RunsEachIndexOnceInWholeGrains) {
  for (uint32_t workers : {0u, 1u, 3u}) {
    ThreadPool pool;
    ASSERT_TRUE(pool.start(workers).ok());
    for (int64_t count : {0, 1, 7, 8, 9, 64, 1000})
      for (int64_t grain : {1, 8, 100}) {
        Tally tally(count, grain);
        pool.run(count, grain, Tally::run, &tally);
        EXPECT_EQ(tally.badCuts, 0);
        for (const std::atomic<int> &each : tally.counts)
          ASSERT_EQ(each, 1) << count << " by " << grain;
        EXPECT_LE(tally.threads.size(), workers + 1);
      }
  }
}

/// Pieces differ by one grain at most, up to the largest count.
TEST(ThreadPool, CutsEvenly) {
  struct Pieces {
    std::mutex mutex;
    std::map<int64_t, int64_t> ends;
  };
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  for (uint32_t workers : {1u, 2u, 4u}) {
    ThreadPool pool;
    ASSERT_TRUE(pool.start(workers).ok());
    for (auto [count, grain] : {std::pair<int64_t, int64_t>{38, 1},
                                {37, 2},
                                {1000, 7},
                                {most, int64_t(3) << 40},
                                {most - 1, int64_t(1) << 61}}) {
      Pieces pieces;
      pool.run(
          count, grain,
          [](void *context, int64_t begin, int64_t end) {
            auto &self = *static_cast<Pieces *>(context);
            std::lock_guard<std::mutex> lock(self.mutex);
            self.ends[begin] = end;
          },
          &pieces);
      int64_t at = 0, least = most, longest = 0;
      for (auto [begin, end] : pieces.ends) {
        ASSERT_EQ(begin, at);
        int64_t grains = (end - begin - 1) / grain + 1;
        least = std::min(least, grains);
        longest = std::max(longest, grains);
        at = end;
      }
      EXPECT_EQ(at, count);
      EXPECT_LE(longest - least, 1) << count << " by " << grain;
    }
  }
}

TEST(ThreadPool, RunsManyShortJobs) {
  ThreadPool pool;
  ASSERT_TRUE(pool.start(3).ok());
  for (int job = 0; job < 20000; ++job) {
    std::atomic<int64_t> sum{0};
    pool.run(
        16, 1,
        [](void *context, int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i)
            *static_cast<std::atomic<int64_t> *>(context) += i;
        },
        &sum);
    ASSERT_EQ(sum, 120);
  }
}

/// Some end while the caller looks, others when it sleeps.
TEST(ThreadPool, WaitsForPiecesOfAnyLength) {
  struct Pieces {
    int slow; // microseconds
    std::vector<int> runs = std::vector<int>(12);
  };
  ThreadPool pool;
  ASSERT_TRUE(pool.start(2).ok());
  for (int job = 0; job < 200; ++job) {
    Pieces pieces{job};
    pool.run(
        12, 1,
        [](void *context, int64_t begin, int64_t end) {
          auto &self = *static_cast<Pieces *>(context);
          for (int64_t i = begin; i < end; ++i) {
            if (i % 5 == 3)
              std::this_thread::sleep_for(std::chrono::microseconds(self.slow));
            ++self.runs[size_t(i)];
          }
        },
        &pieces);
    ASSERT_EQ(pieces.runs, std::vector<int>(12, 1)) << job;
  }
}

TEST(ThreadPool, RunsNestedAndConcurrentJobs) {
  ThreadPool pool;
  ASSERT_TRUE(pool.start(2).ok());
  struct Nest {
    ThreadPool &pool;
    std::atomic<int64_t> sum{0};
  };
  auto work = [&] {
    for (int job = 0; job < 200; ++job) {
      Nest nest{pool};
      pool.run(
          10, 1,
          [](void *context, int64_t begin, int64_t end) {
            auto &outer = *static_cast<Nest *>(context);
            for (int64_t i = begin; i < end; ++i)
              outer.pool.run(
                  10, 1,
                  [](void *inner, int64_t first, int64_t last) {
                    static_cast<Nest *>(inner)->sum += last - first;
                  },
                  context);
          },
          &nest);
      ASSERT_EQ(nest.sum, 100);
    }
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
}

/// Threads of a program: one for each piece.
void runLent(void *context, uint32_t count,
             void (*piece)(void *pieceContext, uint32_t index),
             void *pieceContext) {
  *static_cast<std::atomic<uint32_t> *>(context) += count;
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < count; ++i)
    threads.emplace_back(piece, pieceContext, i);
  for (std::thread &thread : threads)
    thread.join();
}

TEST(ThreadPool, RunsOnTheProgramsThreads) {
  std::atomic<uint32_t> lent{0};
  ThreadPool pool;
  pool.lend({&lent, runLent}, 3);
  for (int64_t count : {1, 8, 9, 64, 1000}) {
    Tally tally(count, 8);
    pool.run(count, 8, Tally::run, &tally);
    EXPECT_EQ(tally.badCuts, 0);
    for (const std::atomic<int> &each : tally.counts)
      ASSERT_EQ(each, 1) << count;
    EXPECT_LE(tally.threads.size(), 3u);
  }
  EXPECT_EQ(lent, 2u + 3u + 3u); // 1 and 8 are one unit, 9 are two
}

/// Counts those that are alive.
struct Counted : Object {
  static constexpr Kind kind = Kind::Tensor;
  explicit Counted(std::atomic<int> &alive) : alive(alive) { ++alive; }
  ~Counted() override { --alive; }
  std::atomic<int> &alive;
};

TEST(HandleTable, LendsMoreReferencesThanItHasAtOnce) {
  std::atomic<int> alive{0};
  HandleTable table;
  uint64_t bits = 0;
  ASSERT_TRUE(table.insert(Kind::Tensor, make<Counted>(alive), bits).ok());
  std::vector<Ref<Counted>> kept(200000); // the handle's share is 2^16
  for (Ref<Counted> &each : kept)
    ASSERT_TRUE(table.lookup(bits, each).ok());
  ASSERT_TRUE(table.release(Kind::Tensor, bits).ok());
  Ref<Counted> none;
  EXPECT_EQ(table.lookup(bits, none).code, ASTRA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(kept[0]->referenceCount(), kept.size());
  EXPECT_EQ(alive, 1);
  kept.clear();
  EXPECT_EQ(alive, 0);
}

TEST(HandleTable, OpensAHandleThatWasVisited) {
  std::atomic<int> alive{0};
  HandleTable table;
  uint64_t bits = 0;
  ASSERT_TRUE(table.insert(Kind::Tensor, make<Counted>(alive), bits).ok());
  auto fails = [](const Counted &) { throw std::bad_alloc(); };
  EXPECT_THROW(table.visit<Counted>(bits, fails), std::bad_alloc);
  EXPECT_TRUE(table.visit<Counted>(bits, [](const Counted &) {}));
  ASSERT_TRUE(table.retain(Kind::Tensor, bits).ok());
  EXPECT_TRUE(table.visit<Counted>(bits, [](const Counted &) {}));
  EXPECT_EQ(table.referenceCount(bits), 2u);
  ASSERT_TRUE(table.release(Kind::Tensor, bits).ok());
  EXPECT_EQ(table.referenceCount(bits), 1u);
  ASSERT_TRUE(table.release(Kind::Tensor, bits).ok());
  EXPECT_FALSE(table.visit<Counted>(bits, [](const Counted &) { FAIL(); }));
  EXPECT_EQ(alive, 0);
}

TEST(HandleTable, LendsToThreadsWhileHandlesGo) {
  std::atomic<int> alive{0};
  std::atomic<uint64_t> current{0};
  std::atomic<bool> ends{false};
  HandleTable table;
  auto use = [&] {
    for (bool last = false; !last;) {
      last = ends.load();
      Ref<Counted> object;
      if (table.lookup(current.load(), object).ok())
        ASSERT_EQ(&object->alive, &alive);
      table.visit<Counted>(current.load(), [&](const Counted &seen) {
        ASSERT_EQ(&seen.alive, &alive);
      });
      uint64_t bits = current.load();
      if (table.retain(Kind::Tensor, bits).ok())
        ASSERT_TRUE(table.release(Kind::Tensor, bits).ok());
    }
  };
  std::thread first(use), second(use);
  for (int i = 0; i < 20000; ++i) {
    uint64_t bits = 0;
    ASSERT_TRUE(table.insert(Kind::Tensor, make<Counted>(alive), bits).ok());
    current = bits;
    if (i % 100 == 0)
      std::this_thread::yield();
    ASSERT_TRUE(table.release(Kind::Tensor, bits).ok());
  }
  ends = true;
  first.join();
  second.join();
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(table.liveCount(), 0u);
}

/// A folder with files as the system shows them.
class FakeSystem : public ::testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/astra-cpus-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root = name;
  }
  void TearDown() override { std::filesystem::remove_all(root); }
  void write(const std::string &path, const std::string &text) {
    std::filesystem::create_directories(
        std::filesystem::path(root + path).parent_path());
    std::ofstream(root + path) << text;
  }
  std::string root;
};

TEST_F(FakeSystem, HasNoQuotaWithoutFiles) {
  EXPECT_EQ(countQuota(root), 0u);
  write("/proc/self/cgroup", "0::/a\n");
  write("/proc/self/mountinfo", "nonsense\n\n - \n1 2 3 - cgroup2\n");
  EXPECT_EQ(countQuota(root), 0u);
}

TEST_F(FakeSystem, TellsTheQuotaOfTheSecondVersion) {
  write("/proc/self/cgroup", "0::/jobs/one\n");
  write("/proc/self/mountinfo",
        "22 1 0:20 / /proc rw - proc proc rw\n"
        "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n");
  write("/sys/fs/cgroup/jobs/one/cpu.max", "max 100000\n");
  EXPECT_EQ(countQuota(root), 0u);
  write("/sys/fs/cgroup/jobs/one/cpu.max", "250000 100000\n");
  EXPECT_EQ(countQuota(root), 3u);
  write("/sys/fs/cgroup/jobs/cpu.max", "50000 100000\n"); // above it
  EXPECT_EQ(countQuota(root), 1u);
  write("/sys/fs/cgroup/jobs/cpu.max", "broken\n");
  EXPECT_EQ(countQuota(root), 3u);
  // In a container that sees its own group as the root.
  write("/proc/self/mountinfo", "30 23 0:26 /jobs /sys/fs/cgroup rw - cgroup2 "
                                "cgroup2 rw\n");
  write("/sys/fs/cgroup/one/cpu.max", "400000 100000\n");
  EXPECT_EQ(countQuota(root), 4u);
}

TEST_F(FakeSystem, TellsTheQuotaOfTheFirstVersion) {
  write("/proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/jobs\n0::/\n");
  write("/proc/self/mountinfo",
        "31 23 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup "
        "rw,cpu,cpuacct\n"
        "32 23 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  std::string folder = "/sys/fs/cgroup/cpu,cpuacct/jobs";
  write(folder + "/cpu.cfs_quota_us", "-1\n");
  write(folder + "/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(countQuota(root), 0u);
  write(folder + "/cpu.cfs_quota_us", "200000\n");
  EXPECT_EQ(countQuota(root), 2u);
  write(folder + "/cpu.cfs_period_us", "0\n");
  EXPECT_EQ(countQuota(root), 0u);
}

TEST(CpuCount, FollowsTheAffinityMask) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(countAffinity(), uint32_t(CPU_COUNT(&before)));
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); ++cpu) {
    if (CPU_ISSET(cpu, &before))
      CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(countAffinity(), 1u);
  EXPECT_EQ(astra_cpu_count(), 1u);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_GE(astra_cpu_count(), 1u);
}

astra_dim_expr_t expression(const std::vector<int64_t> &code) {
  return {"e", code.data(), code.size()};
}
constexpr int64_t constant = ASTRA_DIM_CONST, name = ASTRA_DIM_NAME;

TEST(DimCode, RoundsDown) {
  const int64_t dims[] = {-7, 2, 0};
  auto value = [&](int64_t operation, int64_t right) {
    std::vector<int64_t> code = {name, 0, constant, right, operation};
    int64_t result = 0;
    EXPECT_TRUE(evaluateDim(expression(code), dims, result).ok());
    return result;
  };
  EXPECT_EQ(value(ASTRA_DIM_FLOORDIV, 2), -4);
  EXPECT_EQ(value(ASTRA_DIM_FLOORDIV, -2), 3);
  EXPECT_EQ(value(ASTRA_DIM_MOD, 2), 1);
  EXPECT_EQ(value(ASTRA_DIM_MOD, -2), -1);
  EXPECT_EQ(value(ASTRA_DIM_ADD, 3), -4);
  EXPECT_EQ(value(ASTRA_DIM_SUB, 3), -10);
  EXPECT_EQ(value(ASTRA_DIM_MUL, 3), -21);
}

TEST(DimCode, ReportsOverflowAndDivisionByZero) {
  const int64_t dims[] = {INT64_MAX, 0, INT64_MIN};
  for (const std::vector<int64_t> &code : std::vector<std::vector<int64_t>>{
           {name, 0, constant, 1, ASTRA_DIM_ADD},
           {name, 2, constant, 1, ASTRA_DIM_SUB},
           {name, 0, constant, 2, ASTRA_DIM_MUL},
           {name, 2, constant, -1, ASTRA_DIM_FLOORDIV},
           {name, 2, constant, -1, ASTRA_DIM_MOD}}) {
    int64_t value = 0;
    EXPECT_EQ(evaluateDim(expression(code), dims, value).code,
              ASTRA_ERROR_OVERFLOW);
  }
  for (int64_t division : {ASTRA_DIM_FLOORDIV, ASTRA_DIM_MOD}) {
    std::vector<int64_t> code = {name, 0, name, 1, division};
    int64_t value = 0;
    EXPECT_EQ(evaluateDim(expression(code), dims, value).code,
              ASTRA_ERROR_DIVISION_BY_ZERO);
  }
}

TEST(DimCode, SolvesForOneUnknown) {
  const int64_t dims[] = {0, 5};
  std::vector<bool> known = {false, true};
  // d1 * d0 + d1 + 1 == 21 for d0 = 3.
  std::vector<int64_t> line = {
      name,     1, name,         0, ASTRA_DIM_MUL, name, 1, ASTRA_DIM_ADD,
      constant, 1, ASTRA_DIM_ADD};
  auto solved = solveDim(expression(line), 21, dims, known);
  ASSERT_TRUE(solved.has_value());
  EXPECT_EQ(solved->name, 0u);
  EXPECT_EQ(solved->value, 3);
  EXPECT_FALSE(solveDim(expression(line), 22, dims, known).has_value());
  std::vector<int64_t> square = {name, 0, name, 0, ASTRA_DIM_MUL};
  EXPECT_FALSE(solveDim(expression(square), 9, dims, known).has_value());
  std::vector<int64_t> none = {name, 1};
  EXPECT_FALSE(solveDim(expression(none), 5, dims, known).has_value());
}

TEST(MemoryPool, BlocksAreAlignedAndDoNotOverlap) {
  Budget budget(0);
  MemoryPool pool(nullptr, MemoryPool::usuallyKept, budget);
  std::vector<std::pair<Block, size_t>> blocks;
  for (int round = 0; round < 2; ++round) {
    for (size_t bytes = 0; bytes < 5000; bytes += 37) {
      Block block = pool.allocate(bytes);
      ASSERT_TRUE(block);
      EXPECT_GE(block.bytes, bytes);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block.memory) % 64, 0u);
      std::fill_n(static_cast<char *>(block.memory), bytes, char(bytes));
      blocks.emplace_back(block, bytes);
    }
    for (auto [block, bytes] : blocks) {
      for (size_t i = 0; i < bytes; ++i)
        ASSERT_EQ(static_cast<char *>(block.memory)[i], char(bytes));
      pool.release(block);
    }
    blocks.clear();
  }
  EXPECT_EQ(pool.statistics().live, 0u);
  EXPECT_FALSE(pool.allocate(size_t(1) << 62));
  EXPECT_EQ(pool.statistics().failed, 1u);
}

TEST(MemoryPool, ServesSmallerSizesFromLargerBlocks) {
  Budget budget(0);
  MemoryPool pool(nullptr, MemoryPool::usuallyKept, budget);
  Block large = pool.allocate(8000);
  pool.release(large);
  Block served = pool.allocate(5000);
  EXPECT_EQ(served.memory, large.memory);
  EXPECT_EQ(served.bytes, large.bytes);
  pool.release(served);
  Block small = pool.allocate(1000); // less than half: not worth it
  EXPECT_NE(small.memory, large.memory);
  EXPECT_EQ(pool.statistics().reused, 1u);
  pool.release(small);
  EXPECT_EQ(pool.statistics().kept, large.bytes + small.bytes);
}

TEST(MemoryPool, KeepsAndTrimsAsTold) {
  Budget budget(0);
  MemoryPool pool(nullptr, 10000, budget);
  Block a = pool.allocate(8192), b = pool.allocate(4096);
  pool.release(a);
  pool.release(b); // beyond the limit
  EXPECT_EQ(pool.statistics().kept, 8192u);
  pool.trim(8192);
  EXPECT_EQ(pool.statistics().kept, 8192u);
  pool.trim(8191);
  EXPECT_EQ(pool.statistics().kept, 0u);
}

TEST(MemoryPool, GivesKeptBlocksUpForItsLimit) {
  Budget budget(20000);
  MemoryPool pool(nullptr, MemoryPool::usuallyKept, budget);
  Block a = pool.allocate(16384);
  EXPECT_FALSE(pool.allocate(4096));
  pool.release(a);
  EXPECT_EQ(pool.statistics().kept, 16384u);
  Block b = pool.allocate(4096); // the kept block went
  ASSERT_TRUE(b);
  EXPECT_EQ(pool.statistics().kept, 0u);
  pool.release(b);
  EXPECT_EQ(pool.statistics().peak, 16384u);
}

TEST(MemoryPool, SharesItsLimitWithThePoolsOfOtherNodes) {
  Budget budget(20000);
  MemoryPool near(nullptr, MemoryPool::usuallyKept, budget);
  MemoryPool far(nullptr, MemoryPool::usuallyKept, budget, 0);
  Block a = near.allocate(16384);
  EXPECT_FALSE(far.allocate(4096));
  near.release(a);
  Block b = far.allocate(16384); // what the other pool kept went
  ASSERT_TRUE(b);
  EXPECT_EQ(near.statistics().kept, 0u);
  EXPECT_FALSE(near.allocate(4096));
  far.release(b);
}

TEST(MemoryPool, BindsLargeBlocksToItsNode) {
  Budget budget(0);
  MemoryPool pool(nullptr, 0, budget, 0);
  Block block = pool.allocate(size_t(1) << 20);
  ASSERT_TRUE(block);
  std::memset(block.memory, 1, block.bytes); // usable, whatever came of it
  pool.release(block);
}

/// What the kernel notes about the mapping that an address lies in.
std::string flagsOf(const void *address) {
  std::ifstream maps("/proc/self/smaps");
  bool within = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long from, to;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &from, &to) == 2)
      within = uintptr_t(address) >= from && uintptr_t(address) < to;
    else if (within && line.rfind("VmFlags:", 0) == 0)
      return line + " ";
  }
  return "";
}

TEST(MemoryPool, AsksForLargePagesForLargeBlocks) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage"))
    GTEST_SKIP() << "this kernel has no transparent huge pages";
  Budget budget(0);
  MemoryPool pool(nullptr, 0, budget);
  Block large = pool.allocate(size_t(5) << 20);
  Block small = pool.allocate(4096);
  ASSERT_TRUE(large && small);
  EXPECT_EQ(uintptr_t(large.memory) % (size_t(2) << 20), 0u);
  if (flagsOf(large.memory).empty())
    GTEST_SKIP() << "this kernel does not tell the flags of mappings";
  EXPECT_NE(flagsOf(large.memory).find(" hg "), std::string::npos);
  EXPECT_EQ(flagsOf(small.memory).find(" hg "), std::string::npos);
  pool.release(large);
  pool.release(small);
}

TEST(JsonText, IsUtf8WhateverTheText) {
  std::string text;
  appendJsonString(text, "a\xff\xc3\xa9\"\x01");
  EXPECT_EQ(text, "\"a\\ufffd\xc3\xa9\\\"\\u0001\"");
}

/// A folder as the kernel would show it.
class Nodes : public ::testing::Test {
protected:
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }
  void write(const std::string &path, const std::string &text) {
    std::filesystem::path file = folder / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  std::filesystem::path folder = "nodes-" + std::to_string(getpid());
};

TEST_F(Nodes, AreReadFromFiles) {
  write("online", "0,2-3");
  write("node0/cpulist", "0-1,8");
  write("node2/cpulist", ""); // memory alone
  write("node3/cpulist", "2-7");
  NumaTopology numa(folder);
  EXPECT_EQ(numa.nodeCount(), 2u);
  EXPECT_EQ(numa.systemNode(1), 3u);
  EXPECT_EQ(numa.nodeOf(0), 0u);
  EXPECT_EQ(numa.nodeOf(8), 0u);
  EXPECT_EQ(numa.nodeOf(7), 1u);
  EXPECT_EQ(numa.nodeOf(100000), 0u);
  EXPECT_LT(numa.here(), 2u);
}

TEST_F(Nodes, AreOneWhereNothingIsTold) {
  EXPECT_EQ(NumaTopology(folder / "missing").nodeCount(), 1u);
  EXPECT_EQ(NumaTopology(folder / "missing").here(), 0u);
  write("online", "what is this");
  EXPECT_EQ(NumaTopology(folder).nodeCount(), 1u);
  write("online", "0-4000000000");
  write("node0/cpulist", "4000000000-4000000001,-,3");
  EXPECT_EQ(NumaTopology(folder).nodeCount(), 1u);
}

} // namespace
