// The record of events, and its form as a Chrome trace; see Trace.h.
#include "core/Trace.h"
#include "io/File.h"
#include "io/Json.h"
#include <cstdio>

namespace astra {
namespace {

/// Microseconds, with the nanoseconds behind the point.
std::string microseconds(uint64_t nanoseconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%llu.%03u",
                static_cast<unsigned long long>(nanoseconds / 1000),
                unsigned(nanoseconds % 1000));
  return text;
}

void appendMember(std::string &text, const char *name,
                  const std::string &value) {
  text += join(",\"", name, "\":");
  appendJsonString(text, value);
}

/// A complete event ("X"): streams are shown as processes.
std::string eventText(const Trace::Event &event) {
  const Trace::Site &site = event.site;
  const Trace::Note &note = event.note;
  std::string text = "{\"name\":";
  appendJsonString(text, *site.kernel ? site.kernel : site.function);
  text += join(",\"cat\":\"", *site.kernel ? "kernel" : "call",
               "\",\"ph\":\"X\",\"pid\":", event.stream,
               ",\"tid\":", note.thread, ",\"ts\":", microseconds(note.start),
               ",\"dur\":", microseconds(note.end - note.start),
               ",\"args\":{\"bytes\":", note.cost.bytes,
               ",\"flops\":", note.cost.flops);
  appendMember(text, "function", site.function);
  if (*site.source)
    appendMember(text, "source", site.source);
  return text + "}}";
}

std::string processText(uint64_t stream) {
  return join("{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":", stream,
              ",\"args\":{\"name\":\"stream ", stream, "\"}}");
}

} // namespace

Trace::Traits Trace::traitsOf(const Ref<Module> &module) {
  std::lock_guard<std::mutex> lock(mutex);
  auto &known = modules[module.get()];
  if (known.second)
    return known.second;
  auto traits = std::make_shared<std::vector<KernelTraits>>();
  const astra_module_desc_t &desc = module->descriptor();
  for (uint64_t i = 0; i < desc.import_count; ++i)
    traits->push_back(findTraits(desc.imports[i].name));
  known = {module, traits};
  return traits;
}

Trace::Site Trace::siteOf(const Module &module,
                          const astra_export_desc_t &function,
                          const Note &note) {
  Key key{&function, note.import, note.fused, note.location};
  auto known = sites.find(key);
  if (known != sites.end())
    return known->second;
  const astra_module_desc_t &desc = module.descriptor();
  Site site = {keep(join(desc.name, ".", function.name)), "", ""};
  if (note.fused) {
    const char *name = desc.imports[note.import].name;
    bool isJoined = findTraits(name).rule == KernelTraits::Joined;
    site.kernel = keep(isJoined ? join(name, ": ", note.fused->ops)
                                : std::string(note.fused->ops));
  } else if (note.import != wholeCall) {
    site.kernel = keep(desc.imports[note.import].name);
  }
  if (note.location >= 0)
    site.source = keep(module.location(uint64_t(note.location)));
  sites.emplace(key, site);
  return site;
}

void Trace::add(const Ref<Module> &module, const astra_export_desc_t &function,
                uint64_t stream, const std::vector<Note> &notes) noexcept {
  std::lock_guard<std::mutex> lock(mutex);
  size_t added = 0;
  Status status = guarded([&]() -> Status {
    if (!notes.empty())
      modules[module.get()].first = module;
    while (added < notes.size() && events.size() < mostEvents) {
      events.push_back(
          {siteOf(*module, function, notes[added]), stream, notes[added]});
      ++added;
    }
    return {};
  });
  (void)status; // what there was no memory for is dropped
  dropped += notes.size() - added;
}

void Trace::count(size_t &eventCount, size_t &droppedCount) const {
  std::lock_guard<std::mutex> lock(mutex);
  eventCount = events.size();
  droppedCount = dropped;
}

Status Trace::get(size_t index, Event &event) const {
  std::lock_guard<std::mutex> lock(mutex);
  if (index >= events.size())
    return fail(ASTRA_ERROR_OUT_OF_RANGE, "there is no event ", index,
                "; the trace has ", events.size());
  event = events[index];
  return {};
}

void Trace::clear() {
  std::map<Module *, std::pair<Ref<Module>, Traits>> released; // unlocked
  std::lock_guard<std::mutex> lock(mutex);
  events.clear();
  sites.clear();
  modules.swap(released);
  dropped = 0;
}

Status Trace::save(const std::string &path) const {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  {
    std::lock_guard<std::mutex> lock(mutex);
    std::set<uint64_t> named;
    const char *comma = "\n";
    for (const Event &event : events) {
      if (named.insert(event.stream).second)
        text += join(std::exchange(comma, ",\n"), processText(event.stream));
      text += join(comma, eventText(event));
    }
    text += join("\n],\"otherData\":{\"dropped\":\"", dropped,
                 "\",\"runtime\":\"", astra_version_text(), "\"}}\n");
  }
  FileWriter file(path);
  ASTRA_TRY(file.open());
  ASTRA_TRY(file.write(text.data(), text.size()));
  return file.finish();
}

} // namespace astra
