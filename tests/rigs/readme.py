#!/usr/bin/env python3
"""Prints the examples of a README, one `CODE ARGUMENTS` a line: in shell blocks, each `cargo run --release -- …` whose comment
line before it says `exit N`. Continued lines are joined."""
import re
import sys

START = "cargo run --release -- "

with open(sys.argv[1], encoding="utf-8") as file:
    blocks = re.findall(r"^```sh\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL)
for block in blocks:
    code = None
    for line in re.sub(r"\\\n\s*", "", block).splitlines():
        if line.startswith("#"):
            said = re.search(r"\bexit (\d+)", line)
            code = said.group(1) if said else code
        elif line.startswith(START) and code is not None:
            print(code, line.removeprefix(START))
            code = None
