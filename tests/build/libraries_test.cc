// Every external library compiles, links and runs in the flavour that the build asks for.

#include <benchmark/benchmark.h>
#include <cblas.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <omp.h>
#include <rapidcheck/gtest.h>
#include <stb_image.h>
#include <xxhash.h>
#include <yaml-cpp/yaml.h>
#include <zlib.h>

#include <CLI/CLI.hpp>
#include <array>
#include <nlohmann/json.hpp>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

namespace {

TEST(LibrariesTest, YamlCppParses) {
  EXPECT_EQ(YAML::Load("{epochs: 12}")["epochs"].as<int>(), 12);
  EXPECT_THROW(YAML::Load("{epochs: "), YAML::ParserException);
}

TEST(LibrariesTest, Cli11ParsesAFlag) {
  CLI::App app;
  int batch = 0;
  app.add_option("--batch", batch);
  app.parse("--batch 64");
  EXPECT_EQ(batch, 64);
}

TEST(LibrariesTest, OneDnnRunsRelu) {
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const dnnl::memory::desc desc({4}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a);
  std::array<float, 4> data = {-1.0f, 0.0f, 2.0f, -3.0f};
  dnnl::memory memory(desc, engine, data.data());
  const dnnl::eltwise_forward::desc relu(dnnl::prop_kind::forward_inference,
                                         dnnl::algorithm::eltwise_relu, desc);
  dnnl::eltwise_forward(dnnl::eltwise_forward::primitive_desc(relu, engine))
      .execute(stream, {{DNNL_ARG_SRC, memory}, {DNNL_ARG_DST, memory}});
  stream.wait();
  EXPECT_EQ(data, (std::array<float, 4>{0.0f, 0.0f, 2.0f, 0.0f}));
}

TEST(LibrariesTest, OpenBlasIsTheOpenMpFlavour) {
  constexpr int kOpenMp = 2;  // 0 is sequential, 1 is pthreads
  EXPECT_EQ(openblas_get_parallel(), kOpenMp);
}

TEST(LibrariesTest, OpenBlasMultiplies) {
  const std::array<float, 4> a = {1.0f, 2.0f, 3.0f, 4.0f};
  const std::array<float, 4> swap = {0.0f, 1.0f, 1.0f, 0.0f};
  std::array<float, 4> c = {};
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 2, 2, 2, 1.0f, a.data(), 2, swap.data(), 2,
              0.0f, c.data(), 2);
  EXPECT_EQ(c, (std::array<float, 4>{2.0f, 1.0f, 4.0f, 3.0f}));
}

TEST(LibrariesTest, OpenMpRuntimeIsLinked) { EXPECT_GE(omp_get_max_threads(), 1); }

TEST(LibrariesTest, StbImageDecodes) {
  const std::string pgm = std::string("P5 2 1 255\n") + '\x07' + '\x09';
  int width = 0;
  int height = 0;
  int channels = 0;
  stbi_uc* pixels = stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(pgm.data()),
                                          static_cast<int>(pgm.size()), &width, &height, &channels,
                                          /*desired_channels=*/1);
  ASSERT_NE(pixels, nullptr) << stbi_failure_reason();
  EXPECT_EQ(width, 2);
  EXPECT_EQ(height, 1);
  EXPECT_EQ(pixels[1], 9);
  stbi_image_free(pixels);
}

TEST(LibrariesTest, ZlibRoundTrips) {
  const std::string text(1000, 'x');
  std::vector<Bytef> packed(compressBound(text.size()));
  uLongf packed_size = packed.size();
  ASSERT_EQ(compress(packed.data(), &packed_size, reinterpret_cast<const Bytef*>(text.data()),
                     text.size()),
            Z_OK);
  std::string back(text.size(), '\0');
  uLongf back_size = back.size();
  ASSERT_EQ(
      uncompress(reinterpret_cast<Bytef*>(back.data()), &back_size, packed.data(), packed_size),
      Z_OK);
  EXPECT_EQ(back, text);
}

TEST(LibrariesTest, XxHashHashes) { EXPECT_EQ(XXH64("a", 1, 0), 0xD24EC4F1A98C6E5Bu); }

TEST(LibrariesTest, FmtFormats) { EXPECT_EQ(fmt::format("{:.2f} MiB", 1.5), "1.50 MiB"); }

TEST(LibrariesTest, JsonRoundTrips) {
  EXPECT_EQ(nlohmann::json::parse(R"({"batch": 64})").dump(), R"({"batch":64})");
}

TEST(LibrariesTest, BenchmarkIsLinked) {
  EXPECT_NE(benchmark::RegisterBenchmark("empty", [](benchmark::State&) {}), nullptr);
  benchmark::ClearRegisteredBenchmarks();
}

TEST(LibrariesTest, HighwayKnowsThisMachine) {
  EXPECT_NE(hwy::SupportedTargets() & (HWY_STATIC_TARGET | HWY_SCALAR | HWY_EMU128), 0);
}

RC_GTEST_PROP(LibrariesProperty, RapidCheckGenerates, (const std::vector<int>& values)) {
  std::vector<int> twice = values;
  twice.insert(twice.end(), values.begin(), values.end());
  RC_ASSERT(twice.size() == 2 * values.size());
}

}  // namespace
