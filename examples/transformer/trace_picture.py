#!/usr/bin/env python3
"""Draws a Chrome trace that Astra wrote as an SVG: the events of its longest call
against time, and the time of each kind of kernel.

Usage: trace_picture.py TRACE.json PICTURE.svg
"""
import collections
import html
import json
import sys

WIDTH, LEFT, RIGHT, ROW = 1200, 10, 10, 22
COLOURS = (("attention", "#7b4fa6"), ("contract", "#2f6db5"), ("fused", "#3a9a5b"),
           ("sum", "#c9862b"), ("max", "#c9862b"), ("softmax", "#b5473c"),
           ("gather", "#7d7d7d"), ("scatter", "#7d7d7d"), ("copy", "#a9a9a9"),
           ("random", "#8f8f4a"))
OTHER = "#5e8a8a"
MOST_BARS = 12


def kind(event):
    """Fused kernels are named by their operations, the others by one word."""
    name = event["name"]
    return "fused" if " " in name or "_" not in name else name.rsplit("_", 1)[0]


def colour(event):
    of = kind(event)
    return next((shade for start, shade in COLOURS if of.startswith(start)), OTHER)


def text(x, y, words, size=12, anchor="start", fill="#222"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{fill}">{html.escape(words)}</text>')


def box(x, y, width, height, fill, title):
    return (f'<rect x="{x:.2f}" y="{y}" width="{max(width, 0.15):.2f}" height="{height}" fill="{fill}">'
            f"<title>{html.escape(title)}</title></rect>")


def describe(event):
    args, time = event["args"], max(event["dur"], 1e-3) * 1e3
    words = f'{event["name"]}, {event["dur"]:.1f} us, {args["bytes"] / time:.1f} GB/s'
    if args["flops"]:
        words += f', {args["flops"] / time:.1f} GFLOP/s'
    return words + (f', {args["source"]}' if "source" in args else "")


def timeline(call, kernels, top):
    """The call above its kernels, from its start to its end."""
    scale = (WIDTH - LEFT - RIGHT) / call["dur"]
    place = lambda event: LEFT + (event["ts"] - call["ts"]) * scale
    out = [box(LEFT, top, call["dur"] * scale, ROW, "#444", describe(call)),
           text(LEFT + 6, top + 15, call["name"], fill="#fff")]
    for event in kernels:
        width = event["dur"] * scale
        out.append(box(place(event), top + ROW + 3, width, 2 * ROW, colour(event), describe(event)))
        if width > 7 * len(kind(event)):
            out.append(text(place(event) + width / 2, top + 2 * ROW + 7, kind(event), 11, "middle", "#fff"))
    for tenth in range(0, 11, 2):
        x = LEFT + (WIDTH - LEFT - RIGHT) * tenth / 10
        anchor = "start" if tenth == 0 else "end" if tenth == 10 else "middle"
        out.append(text(x, top + 3 * ROW + 22, f'{call["dur"] * tenth / 1e4:.1f} ms', 11, anchor, "#555"))
    return out


def bars(kernels, call, top):
    """Time by name, the longest first."""
    sums = collections.defaultdict(lambda: [0.0, 0, None])
    for event in kernels:
        entry = sums[event["name"]]
        entry[0] += event["dur"]
        entry[1] += 1
        entry[2] = event
    longest = sorted(sums.items(), key=lambda item: -item[1][0])[:MOST_BARS]
    scale, out = 420 / longest[0][1][0], []
    for row, (name, (time, count, event)) in enumerate(longest):
        y = top + row * ROW
        short = name if len(name) <= 62 else name[:59] + "..."
        out.append(text(450, y + 15, short, 12, "end"))
        out.append(box(460, y + 3, time * scale, ROW - 6, colour(event), describe(event)))
        out.append(text(466 + time * scale, y + 15,
                        f'{time / 1e3:.2f} ms, {100 * time / call["dur"]:.0f} %, {count} times', 11, fill="#555"))
    return out


def draw(events):
    calls = [event for event in events if event.get("cat") == "call"]
    call = max(calls, key=lambda event: event["dur"])
    end = call["ts"] + call["dur"]
    kernels = [event for event in events if event.get("cat") == "kernel" and event["pid"] == call["pid"]
               and call["ts"] <= event["ts"] and event["ts"] + event["dur"] <= end + 1]
    rows = min(MOST_BARS, len({event["name"] for event in kernels}))
    height = 4 * ROW + 80 + rows * ROW
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
           f'font-family="sans-serif">', f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
           text(LEFT, 22, f'{call["name"]}: {len(kernels)} kernels in {call["dur"] / 1e3:.1f} ms', 15)]
    out += timeline(call, kernels, 36) + bars(kernels, call, 4 * ROW + 60)
    return "\n".join(out + ["</svg>", ""])


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip().splitlines()[-1])
    with open(sys.argv[1]) as file:
        events = json.load(file)["traceEvents"]
    picture = draw(events)
    with open(sys.argv[2], "w") as file:
        file.write(picture)


main()
