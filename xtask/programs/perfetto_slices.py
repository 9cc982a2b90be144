"""Compares a timeline in Perfetto's format with the one in Chrome's: both must have the same threads, slices and
moments, with the same names, times and places. Prints how many slices there are.

    perfetto_slices.py TRACE.perfetto TIMELINE.json
"""

import json
import os
import sys

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TracePacket, TrackEvent


def of_chrome(path):
    """Per thread: its title and what happens in it."""
    threads = {}
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    for event in events:
        arguments = event.get("args", {})
        title, happenings = threads.setdefault(event["tid"], ["", []])
        if event["ph"] != "M":
            name, place, returned = event.get("name"), arguments.get("at"), arguments.get("returned", True)
            happenings.append((event["ph"], name, round(event["ts"] * 1000), place, returned))
        elif event["name"] == "thread_name":
            threads[event["tid"]][0] = arguments["name"]
    return threads


def of_perfetto(path):
    """The same, by the numbers of tracks and by the names of each sequence."""
    kinds = {TrackEvent.TYPE_SLICE_BEGIN: "B", TrackEvent.TYPE_SLICE_END: "E", TrackEvent.TYPE_INSTANT: "i"}
    trace = Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    threads, tracks, names, places = {}, {}, {}, {}
    for packet in trace.packet:
        sequence = packet.trusted_packet_sequence_id
        if packet.sequence_flags & TracePacket.SEQ_INCREMENTAL_STATE_CLEARED:
            names[sequence], places[sequence] = {}, {}
        for name in packet.interned_data.event_names:
            names[sequence][name.iid] = name.name
        for at in packet.interned_data.source_locations:
            places[sequence][at.iid] = f"{os.path.basename(at.file_name)}:{at.line_number}"
        if packet.track_descriptor.HasField("thread"):
            thread = packet.track_descriptor.thread
            tracks[packet.track_descriptor.uuid] = thread.tid
            threads[thread.tid] = [thread.thread_name, []]
        if packet.HasField("track_event"):
            event = packet.track_event
            name = names[sequence][event.name_iid] if event.name_iid else event.name or None
            place = places[sequence][event.source_location_iid] if event.source_location_iid else None
            returned = all(note.bool_value for note in event.debug_annotations if note.name == "returned")
            threads[tracks[event.track_uuid]][1].append((kinds[event.type], name, packet.timestamp, place, returned))
    return threads


def main():
    perfetto, chrome = of_perfetto(sys.argv[1]), of_chrome(sys.argv[2])
    if perfetto != chrome:
        for thread in sorted(perfetto.keys() | chrome.keys()):
            (title, ours), (other, theirs) = perfetto.get(thread, ["", []]), chrome.get(thread, ["", []])
            first = next((pair for pair in zip(ours, theirs) if pair[0] != pair[1]), (len(ours), len(theirs)))
            print(f"thread {thread}, {title} and {other}: {first}", file=sys.stderr)
        sys.exit(1)
    print(sum(happening[0] == "B" for _, happenings in perfetto.values() for happening in happenings))


if __name__ == "__main__":
    main()
