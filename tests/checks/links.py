#!/usr/bin/env python3
"""links.py SITE [--without-api]: every link of every page leads to a file that is there, and to a place that it has."""
import html.parser
import pathlib
import re
import sys
import urllib.parse

site = pathlib.Path(sys.argv[1]).resolve()
without_api = "--without-api" in sys.argv


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(path.read_text(encoding="utf-8", errors="replace"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.places.add(value)
            if name in ("href", "src") and value:
                self.links.append(value)


pages = {path: Page(path) for path in site.rglob("*.html")}
bad = 0
for path, page in pages.items():
    if site / "api" in path.parents: # doxygen's own
        continue
    for link in page.links:
        if re.match(r"[a-z]+:", link):
            continue
        name, _, place = urllib.parse.unquote(link).partition("#")
        goal = (path.parent / name).resolve() if name else path
        if without_api and site / "api" in goal.parents:
            continue
        if not goal.is_file():
            print(f"{path.relative_to(site)}: {link} leads nowhere")
            bad += 1
        elif place and goal in pages and place not in pages[goal].places:
            print(f"{path.relative_to(site)}: {link}: there is no such place")
            bad += 1
print(f"{len(pages)} pages, {bad} bad links")
sys.exit(bad != 0 or not pages)
