// A function of a module, with what every call of it needs worked out once:
// where its dimensions come from and which inputs an output may take the place
// of. Knows the object ABI, no call.
#ifndef ASTRA_RUNTIME_FUNCTION_H
#define ASTRA_RUNTIME_FUNCTION_H

#include "core/Module.h"

namespace astra {

class Function : public Object {
public:
  static constexpr Kind kind = Kind::Function;

  Function(Ref<Module> module, const astra_export_desc_t &desc);

  /// An extent of an input.
  struct Place {
    uint32_t input, axis;
  };
  /// The extent where dimension `dim` stands alone, or null.
  const Place *source(uint64_t dim) const {
    return sources[dim].input == none ? nullptr : &sources[dim];
  }
  /// Whether every dimension has such an extent.
  bool hasAllSources() const { return allSources; }
  /// The extents that have to be compared with what is expected: all but the
  /// sources.
  const std::vector<Place> &checks() const { return checked; }

  struct Donors {
    const uint32_t *inputs;
    size_t count;
  };
  /// The inputs whose memory an output may take if they are donated.
  Donors donors(uint64_t output) const;
  /// The bytes of workspace and results as an expression.
  const char *memoryText() const { return memory.c_str(); }
  /// The same for given dimensions.
  Status evaluateMemory(const int64_t *dims, int64_t &workspace,
                        int64_t &results) const;

  /// Where it stands in the program, or "".
  const char *source() const { return place.c_str(); }

  const Ref<Module> module;
  const astra_export_desc_t &desc;

private:
  static constexpr uint32_t none = UINT32_MAX;
  void findSources();
  void findDonors();
  void writeMemory();

  std::vector<Place> sources; // of each dimension
  bool allSources = true;
  std::vector<Place> checked;
  std::vector<uint32_t> donorInputs;
  std::vector<size_t> donorStarts; // of each output, and the end
  std::string memory, place;
};

} // namespace astra
#endif // ASTRA_RUNTIME_FUNCTION_H
