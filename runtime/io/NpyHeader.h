// The header of NumPy's file format: a Python dictionary of three entries.
#ifndef ASTRA_RUNTIME_NPYHEADER_H
#define ASTRA_RUNTIME_NPYHEADER_H

#include "core/Status.h"
#include <vector>

namespace astra {

struct NpyHeader {
  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

/// Reads the header at the start of a file; `dataStart` becomes its end.
Status readNpyHeader(const std::string &bytes, NpyHeader &header,
                     size_t &dataStart);

/// The start of a file, version 1.0, padded to a multiple of 64 bytes.
std::string makeNpyHeader(const NpyHeader &header);

} // namespace astra
#endif // ASTRA_RUNTIME_NPYHEADER_H
