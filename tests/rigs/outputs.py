#!/usr/bin/env python3
"""Every file of a check is there, can be parsed by somebody else's parser, and tells the same verdict.

    outputs.py FOLDER EXIT_CODE
"""
import html.parser
import json
import os
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from runfile import lines

VERDICTS = {0: "pass", 6: "invalid", 10: "fail", 11: "fail", 12: "inconclusive"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class Page(html.parser.HTMLParser):
    """Elements are closed in the order they were opened, and nothing is fetched from outside."""

    def __init__(self):
        super().__init__()
        self.open, self.tables, self.text = [], 0, []

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            outside = name in ("src", "href", "action", "data") and (value or "").startswith(("http:", "https:", "//"))
            assert not outside or tag == "a", f"report.html fetches {value}"
        self.tables += tag == "table"
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        # HTML lets these be closed by what follows; a generated page has no need of it.
        assert self.open and self.open[-1] == tag, f"report.html: </{tag}> closes <{self.open[-1] if self.open else None}>"
        self.open.pop()

    def handle_data(self, data):
        self.text.append(data)


def main():
    folder, code = sys.argv[1], int(sys.argv[2])
    path = lambda name: os.path.join(folder, name)

    run = lines(path("run.jsonl.zst"))
    assert run[0]["type"] == "run" and run[-1]["type"] == "end", "the run file does not begin with `run` or not end with `end`"
    requests = [line for line in run if line["type"] == "request"]
    assert len(requests) == run[-1]["requests"] > 0, "the end line counts other requests than the file holds"

    with open(path("verdict.json"), encoding="utf-8") as file:
        verdict = json.load(file)
    assert verdict["schema"] == "goodput-gate/verdict/1"
    assert (verdict["verdict"], verdict["exit_code"]) == (VERDICTS[code], code), verdict["summary"]
    whole = {(line["level"], line["round"]) for line in run if line["type"] == "round"}
    looks = {end["level"]: end["look"] for end in run[-1]["levels"]}
    for level in verdict["levels"]:
        # A level that a look ended is judged by the look's rounds; what was in flight then is in the file and in no figure.
        look = looks.get(level["level"])
        counted = [r for r in requests if (r["level"], r["round"]) in whole and r["level"] == level["level"] and (look is None or r["round"] < look)]
        assert level["requests"] == len(counted), f"{level['requests']} requests reported, {len(counted)} in the run file"

    suite = xml.etree.ElementTree.parse(path("junit.xml")).getroot()
    cases = suite.findall(".//testcase")
    assert len(cases) >= len(verdict["rules"]) > 0, f"{len(cases)} test cases for {len(verdict['rules'])} rules"
    failures = suite.findall(".//testcase/failure")
    assert bool(failures) == (VERDICTS[code] == "fail"), f"{len(failures)} failures in junit.xml at exit code {code}"

    page = Page()
    with open(path("report.html"), encoding="utf-8") as file:
        page.feed(file.read())
    page.close()
    assert not page.open and page.tables, f"report.html: {page.open} left open, {page.tables} tables"

    with open(path("report.md"), encoding="utf-8") as file:
        markdown = file.read()
    for name, text in (("report.md", markdown), ("report.html", " ".join(page.text))):
        assert VERDICTS[code] in text.lower(), f"{name} does not say {VERDICTS[code]}"
    assert "|" in markdown, "report.md has no table"
    print(json.dumps({"rig": "quickstart", "exit_code": code, "requests": len(requests), "summary": verdict["summary"]}))


main()
