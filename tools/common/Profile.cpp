// See Profile.h.
#include "tools/common/Profile.h"
#include <algorithm>
#include <cstdarg>
#include <map>

namespace astra {
namespace {

std::string format(const char *pattern, ...) {
  char text[256];
  va_list values;
  va_start(values, pattern);
  std::vsnprintf(text, sizeof text, pattern, values);
  va_end(values);
  return text;
}

/// Billions a second: bytes and operations by the same measure.
double rate(uint64_t count, uint64_t nanoseconds) {
  return nanoseconds ? double(count) / double(nanoseconds) : 0;
}

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

/// A rate and its part of the peak; blank where nothing was counted.
std::string rateText(uint64_t count, uint64_t nanoseconds, double peak) {
  if (!count)
    return format("%14s", "-");
  double value = rate(count, nanoseconds);
  return format("%8.2f %4.0f%%", value, percent(value, peak));
}

std::string rowText(const ProfileRow &row, uint64_t whole, const Peak &peak) {
  return format("%8llu %12.3f %5.1f%% ",
                static_cast<unsigned long long>(row.calls),
                double(row.nanoseconds) / 1e6,
                percent(double(row.nanoseconds), double(whole))) +
         rateText(row.bytes, row.nanoseconds, peak.bytes) +
         rateText(row.flops, row.nanoseconds, peak.flops) + "  " + row.kernel +
         (row.source.empty() ? "" : "  " + row.source) + "\n";
}

void add(ProfileRow &row, const astra_trace_event_t &event) {
  ++row.calls;
  row.nanoseconds += event.end - event.start;
  row.bytes += event.bytes;
  row.flops += event.flops;
}

} // namespace

Result<Profile> readProfile(astra_runtime_t *runtime) {
  Profile profile;
  size_t count = 0, dropped = 0;
  Done counted = detail::run([&](astra_error_t **error) {
    return astra_trace_count(runtime, &count, &dropped, error);
  });
  if (!counted)
    return counted.error();
  profile.dropped = dropped;
  std::map<std::pair<std::string, std::string>, ProfileRow> rows;
  for (size_t i = 0; i < count; ++i) {
    auto event = detail::ask<astra_trace_event_t>(
        ASTRA_STRUCT_TRACE_EVENT, [&](auto *event, astra_error_t **error) {
          return astra_trace_event(runtime, i, event, error);
        });
    if (!event)
      return event.error();
    if (!*event->kernel) {
      ++profile.calls;
      profile.nanoseconds += event->end - event->start;
      continue;
    }
    ProfileRow &row = rows[{event->kernel, event->source}];
    row.kernel = event->kernel;
    row.source = event->source;
    add(row, *event);
  }
  for (auto &[key, row] : rows)
    profile.rows.push_back(std::move(row));
  std::sort(profile.rows.begin(), profile.rows.end(),
            [](const ProfileRow &a, const ProfileRow &b) {
              return a.nanoseconds > b.nanoseconds;
            });
  return profile;
}

std::string toTable(const Profile &profile, const Peak &peak, size_t most) {
  std::string out =
      format("%8s %12s %6s %14s%14s  %s\n", "calls", "time (ms)", "share",
             "GB/s  peak", "GFLOP/s  peak", "kernel and where it is called");
  ProfileRow rest, all;
  for (size_t i = 0; i < profile.rows.size(); ++i) {
    const ProfileRow &row = profile.rows[i];
    for (ProfileRow *sum : {&all, i < most ? nullptr : &rest}) {
      if (!sum)
        continue;
      sum->calls += row.calls;
      sum->nanoseconds += row.nanoseconds;
      sum->bytes += row.bytes;
      sum->flops += row.flops;
    }
    if (i < most)
      out += rowText(row, profile.nanoseconds, peak);
  }
  if (profile.rows.size() > most) {
    rest.kernel = format("%zu others", profile.rows.size() - most);
    out += rowText(rest, profile.nanoseconds, peak);
  }
  ProfileRow between;
  between.kernel = "between kernels";
  between.nanoseconds =
      profile.nanoseconds - std::min(profile.nanoseconds, all.nanoseconds);
  out += rowText(between, profile.nanoseconds, peak);
  all.kernel = format("%llu call%s", (unsigned long long)profile.calls,
                      profile.calls == 1 ? "" : "s");
  all.nanoseconds = profile.nanoseconds;
  out += rowText(all, profile.nanoseconds, peak);
  out += format("peak: %.2f GB/s copying, %.2f GFLOP/s (f32), %u thread%s\n",
                peak.bytes, peak.flops, peak.threads,
                peak.threads == 1 ? "" : "s");
  if (profile.dropped)
    out += format("%llu events were dropped: the trace was full\n",
                  (unsigned long long)profile.dropped);
  return out;
}

} // namespace astra
