// See Store.h. A record of the file is three sizes (of key, head and data) and
// these three one behind the other.
#include "tools/astra-bits/Store.h"
#include "examples/common/sha256.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sstream>
#include <unistd.h>

using namespace astra;

static bool writeAll(int file, const void *data, size_t bytes) {
  const char *next = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t count = write(file, next, bytes);
    if (count <= 0)
      return false;
    next += count;
    bytes -= size_t(count);
  }
  return true;
}

bool Store::readAll(uint64_t at, void *data, size_t bytes) const {
  char *next = static_cast<char *>(data);
  while (bytes > 0) {
    ssize_t count = pread(file, next, bytes, off_t(at));
    if (count <= 0)
      return false;
    next += count;
    at += uint64_t(count);
    bytes -= size_t(count);
  }
  return true;
}

Store::~Store() {
  if (file >= 0)
    close(file);
}

bool Store::open(const std::string &path) {
  file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  return file >= 0 && update();
}

bool Store::update() {
  off_t size = lseek(file, 0, SEEK_END);
  uint64_t sizes[3];
  while (size >= 0 && end + sizeof sizes <= uint64_t(size)) {
    if (!readAll(end, sizes, sizeof sizes))
      return false;
    std::string key(sizes[0], 0), head(sizes[1], 0);
    uint64_t at = end + sizeof sizes;
    if (!readAll(at, key.data(), key.size()) ||
        !readAll(at + key.size(), head.data(), head.size()))
      return false;
    at += key.size() + head.size();
    numbers.emplace(key, records.size());
    records.push_back({head, at});
    end = at + sizes[2];
  }
  return size >= 0 && end == uint64_t(size);
}

/// "CODE\n", then "PATH DTYPE BYTES EXTENT...\n" for each output.
static std::string makeHead(const Outcome &result) {
  std::string head = std::to_string(result.code) + "\n";
  for (const Host &output : result.outputs) {
    head += output.path + " " + std::to_string(output.dtype) + " " +
            std::to_string(output.bytes.size());
    for (int64_t extent : output.shape)
      head += " " + std::to_string(extent);
    head += "\n";
  }
  return head;
}

bool Store::isSame(const Record &record, const Outcome &result) const {
  uint64_t at = record.data;
  std::vector<char> known(1 << 16);
  for (const Host &output : result.outputs)
    for (size_t i = 0; i < output.bytes.size(); i += known.size()) {
      size_t count = std::min(known.size(), output.bytes.size() - i);
      if (!readAll(at, known.data(), count) ||
          std::memcmp(known.data(), output.bytes.data() + i, count))
        return false;
      at += count;
    }
  return true;
}

int64_t Store::add(const std::string &key, const Outcome &result) {
  std::string head = makeHead(result);
  auto [first, last] = numbers.equal_range(key);
  for (auto each = first; each != last; ++each)
    if (records[each->second].head == head &&
        isSame(records[each->second], result))
      return int64_t(each->second);
  uint64_t sizes[3] = {key.size(), head.size(), 0};
  for (const Host &output : result.outputs)
    sizes[2] += output.bytes.size();
  if (!writeAll(file, sizes, sizeof sizes) ||
      !writeAll(file, key.data(), key.size()) ||
      !writeAll(file, head.data(), head.size()))
    return -1;
  for (const Host &output : result.outputs)
    if (!writeAll(file, output.bytes.data(), output.bytes.size()))
      return -1;
  uint64_t data = end + sizeof sizes + key.size() + head.size();
  end = data + sizes[2];
  numbers.emplace(key, records.size());
  records.push_back({head, data});
  return int64_t(records.size()) - 1;
}

bool Store::read(size_t number, Outcome &result) const {
  if (number >= records.size())
    return false;
  std::istringstream head(records[number].head);
  std::string line;
  uint64_t at = records[number].data;
  std::getline(head, line);
  result = {};
  result.code = int32_t(std::strtol(line.c_str(), nullptr, 10));
  while (std::getline(head, line)) {
    std::istringstream words(line);
    Host output;
    size_t bytes = 0;
    words >> output.path >> output.dtype >> bytes;
    for (int64_t extent; words >> extent;)
      output.shape.push_back(extent);
    output.bytes.resize(bytes);
    if (!readAll(at, output.bytes.data(), bytes))
      return false;
    at += bytes;
    result.outputs.push_back(std::move(output));
  }
  return true;
}

std::string Store::getHash(size_t number) const {
  Outcome result;
  if (!read(number, result))
    return "";
  sha256_t hash;
  sha256_start(&hash);
  sha256_add(&hash, &result.code, sizeof result.code);
  for (const Host &output : result.outputs) {
    sha256_add(&hash, &output.dtype, sizeof output.dtype);
    sha256_add(&hash, output.shape.data(),
               output.shape.size() * sizeof(int64_t));
    sha256_add(&hash, output.bytes.data(), output.bytes.size());
  }
  char text[65];
  sha256_finish(&hash, text);
  return text;
}
