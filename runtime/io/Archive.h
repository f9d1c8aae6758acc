// Named tensors read from a file: the memory of the data, and where in it each
// tensor lies. Knows no file format.
#ifndef ASTRA_RUNTIME_ARCHIVE_H
#define ASTRA_RUNTIME_ARCHIVE_H

#include "core/Tensor.h"

namespace astra {

class Archive : public Object {
public:
  static constexpr Kind kind = Kind::Archive;

  struct Entry {
    std::string name;
    uint32_t dtype = 0;
    std::vector<int64_t> shape;
    size_t offset = 0, bytes = 0;
  };

  Archive(Ref<Storage> data, std::vector<Entry> entries);
  ~Archive() override { data->dropUser(); }

  const std::vector<Entry> &all() const { return entries; }
  const Entry *find(const std::string &name) const;
  /// The tensor of an entry: a view of the data if the device is the one that
  /// holds it and the place is aligned, else a copy.
  Status tensor(const Entry &entry, const Ref<Device> &device,
                Ref<Tensor> &tensor) const;

private:
  Ref<Storage> data;
  std::vector<Entry> entries;
  std::vector<size_t> byName; // indices, sorted by name
};

} // namespace astra
#endif // ASTRA_RUNTIME_ARCHIVE_H
