// The same through the C++ wrapper: owners, spans and results. Calls `errors`
// of line.so, and shows an error that a call gives as an exception.
#include "astra/astra.hpp"
#include <iostream>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " MODULE\n";
    return 2;
  }
  try {
    astra::Runtime runtime = astra::Runtime::create().value();
    astra::Device cpu = runtime.device().value();
    astra::Stream stream = runtime.stream(cpu).value();
    astra::Module module = runtime.load(argv[1]).value();
    astra::Function errors = module.function("errors").value();

    astra::Tensor x = astra::Tensor::from<float>(cpu, {0, 1, 2}, {3}).value();
    astra::Tensor y = astra::Tensor::from<float>(cpu, {1, 3, 6}, {3}).value();
    std::vector<astra::Tensor> results =
        errors.call(stream, {2.0f, 1.0f, x, y}).value();
    std::cout << errors.info().value().doc << "\n";
    for (const astra::Tensor &result : results)
      std::cout << result.read<float>().value()[0] << "\n";

    astra::Tensor two = astra::Tensor::from<float>(cpu, {0, 1}, {2}).value();
    results = errors.call(stream, {2.0f, 1.0f, two, y}).value();
  } catch (const astra::Error &error) {
    std::cout << "refused: " << error.what() << "\n";
  }
  return 0;
}
