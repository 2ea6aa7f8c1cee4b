"""Reads what the gate writes: run files (JSON lines in zstd frames), with nothing of the gate's own code."""
import io
import json

import zstandard


def lines(path):
    with open(path, "rb") as file:
        # A run file is appended frame by frame; a reader that stops at the first frame sees one line.
        stream = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        return [json.loads(line) for line in io.TextIOWrapper(stream, "utf-8") if line.strip()]


def requests(path):
    return [line for line in lines(path) if line["type"] == "request"]


def quantile(values, q):
    """Linear interpolation between order statistics (type 7)."""
    values = sorted(values)
    k = q * (len(values) - 1)
    low = int(k)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (k - low)
