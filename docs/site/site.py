#!/usr/bin/env python3
"""site.py ROOT OUT [TRIBO]: the documentation as one site of plain HTML, from README.md, docs/ and the examples, by pandoc.

Pages keep their places, so that links hold: docs/math.md is OUT/docs/math.html. Files that are linked to and are no
pages come along, source code as a page of its own; figures are gathered in gallery.html, with the scenes of data/scenes as
the command TRIBO plays them. The interface (OUT/api) is
doxygen's: `./dev docs` makes both. No page needs a network: formulas are MathML."""
import html
import pathlib
import re
import shutil
import subprocess
import sys

root, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
here = pathlib.Path(__file__).parent
NAVIGATION = [
    ("Tribo", "README.md"),
    ("Command", "docs/command.md"),
    ("Python", "docs/python.md"),
    ("Scenes", "docs/mjcf.md"),
    ("Identify", "docs/identify.md"),
    ("Control", "docs/control.md"),
    ("Many worlds", "docs/batch.md"),
    ("Gradients", "docs/gradients.md"),
    ("Contact laws", "docs/contact-laws.md"),
    ("Mathematics", "docs/math.md"),
    ("Examples", "examples/README.md"),
    ("Papers' figures", "docs/figures.md"),
    ("Gallery", "gallery"),
    ("Interface", "api"),
]
PICTURES = {".svg", ".png", ".jpg", ".gif"}
AS_THEY_ARE = PICTURES | {".html", ".glb"}


def page_of(path):
    """Where a file of the project is in the site, from its root."""
    name = path.relative_to(root).as_posix()
    if path.is_dir():
        return (name + "/" if name != "." else "") + "index.html"
    if name == "README.md":
        return "index.html"
    if path.suffix == ".md":
        return name[:-3] + ".html"
    return name if path.suffix in AS_THEY_ARE else name + ".html"


def up(page):
    return "../" * page.count("/")


def navigation(page):
    links = []
    for title, target in NAVIGATION:
        goal = {"gallery": "gallery.html", "api": "api/files.html"}.get(target) or page_of(root / target)
        here_now = ' aria-current="page"' if goal == page else ""
        links.append(f'<a href="{up(page)}{goal}"{here_now}>{title}</a>')
    return "<nav>" + "\n".join(links) + "</nav>"


def write(page, title, body):
    to = out / page
    to.parent.mkdir(parents=True, exist_ok=True)
    body = re.sub(r"<table>.*?</table>", r'<div class="wide">\g<0></div>', body, flags=re.S)
    to.write_text(
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{html.escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="stylesheet" href="{up(page)}site.css">\n</head>\n<body>\n{navigation(page)}\n<main>\n{body}\n</main>\n</body>\n</html>\n',
        encoding="utf-8",
    )


def pandoc(text):
    said = subprocess.run(
        ["pandoc", "-f", "gfm+tex_math_dollars", "-t", "html5", "--mathml", "--wrap=none", "--no-highlight"],
        input=text, capture_output=True, text=True, check=True,
    )
    if said.stderr:
        sys.exit(f"site.py: {said.stderr}")
    # Browsers do not hear of an upright <mstyle>: its letters are one word, which is upright by itself.
    body = re.sub(r'<mstyle mathvariant="normal">((?:<mi>\w</mi>)+)</mstyle>',
                  lambda m: '<mi mathvariant="normal">' + re.sub("</?mi>", "", m[1]) + "</mi>", said.stdout)
    # Brackets in a line of text do not grow.
    return re.sub(r"<math display=.inline.*?</math>", lambda m: m[0].replace('stretchy="true"', 'stretchy="false"'), body, flags=re.S)


figures = {}  # place: (what it shows, the page it is on)
waiting, done = [], set()


def want(path):
    if path not in done:
        done.add(path)
        waiting.append(path)


def links(body, path, page):
    """Links to files of the project become links to their pages, which are then wanted."""

    def turn(match):
        attribute, target = match[1], html.unescape(match[2])
        name, _, anchor = target.partition("#")
        if re.match(r"\w+:", target) or not name:
            return match[0]
        goal = (path.parent / name).resolve()
        if not goal.exists() or root not in [goal, *goal.parents]:
            sys.exit(f"site.py: {path}: {target} leads nowhere")
        want(goal)
        return f'{attribute}="{up(page)}{page_of(goal)}{"#" + anchor if anchor else ""}"'

    return re.sub(r'\b(href|src)="([^"]*)"', turn, body)


def markdown(path):
    page = page_of(path)
    text = re.sub(r"\\tag\{(\d+)\}", r"\\qquad\\text{(\1)}", path.read_text(encoding="utf-8"))
    for alt, picture in re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", text):
        figures.setdefault((path.parent / picture).resolve(), (alt, page))
    title = re.search(r"^# (.*)", text, flags=re.M)
    body = pandoc(text)
    write(page, re.sub(r"[`*]", "", title[1]) if title else path.name, links(body, path, page))


def folder(path):
    page = page_of(path)
    items = []
    for file in sorted(path.iterdir()):
        if file.name.startswith(".") or file.name in ("meson.build", "__pycache__"):
            continue
        want(file)
        items.append(f'<li><a href="{up(page)}{page_of(file)}">{html.escape(file.name)}</a></li>')
    name = path.relative_to(root).as_posix()
    write(page, name, f"<h1>{html.escape(name)}</h1>\n<ul>\n" + "\n".join(items) + "\n</ul>")


def source(path):
    name = path.relative_to(root).as_posix()
    text = html.escape(path.read_text(encoding="utf-8", errors="replace"))
    write(page_of(path), name, f"<h1>{html.escape(name)}</h1>\n<pre><code>{text}</code></pre>")


def tile(picture, page, text):
    return (f'<figure><a href="{page}"><img src="{picture}" alt="{html.escape(text)}" loading="lazy"></a><figcaption>{html.escape(text)}. '
            f'<a href="{page}">{page}</a></figcaption></figure>')


def replays(tribo):
    """Every scene as a page that plays it, and its picture after a third of a second."""
    (out / "replays").mkdir(exist_ok=True)
    tiles = []
    for scene in sorted(root.glob("data/scenes/*.xml")):
        page = f"replays/{scene.stem}.html"
        for more in (["--out", out / page], ["--duration", "0.3", "--out", out / f"replays/{scene.stem}.png"]):
            done = subprocess.run([tribo, "view", scene, "--quiet", *more])
            if done.returncode not in (0, 4):  # 4: a step did not converge, which the page says
                sys.exit(f"site.py: {scene} cannot be shown")
        said = re.search(r"<!--\s*(.*?)\.?\s*-->", scene.read_text(encoding="utf-8"), re.S)
        tiles.append(tile(f"replays/{scene.stem}.png", page, re.sub(r"\s+", " ", said[1]) if said else scene.stem))
    return tiles


def gallery(tribo):
    parts = ["<h1>Gallery</h1>"]
    if tribo:
        parts += ["<h2>Scenes that play</h2>", "<p>The scenes of <code>data/scenes</code> as <code>tribo view</code> shows them.</p>",
                  '<div class="gallery">', *replays(tribo), "</div>", "<h2>Figures</h2>"]
    parts += ["<p>Every figure of the documentation; below each the page that says what made it.</p>", '<div class="gallery">']
    parts += [tile(page_of(picture), page, alt) for picture, (alt, page) in figures.items()]
    write("gallery.html", "Gallery", "\n".join(parts) + "\n</div>")


out.mkdir(parents=True, exist_ok=True)
for _, target in NAVIGATION:
    if target.endswith(".md"):
        want(root / target)
for path in sorted(root.glob("docs/*.md")):
    want(path)
while waiting:
    path = waiting.pop(0)
    if path.is_dir():
        folder(path)
    elif path.suffix == ".md":
        markdown(path)
    elif path.suffix in AS_THEY_ARE:
        (out / page_of(path)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, out / page_of(path))
    else:
        source(path)
gallery(sys.argv[3] if len(sys.argv) > 3 else None)
look = root / "tools/page/page.css"  # that of the command's own pages
(out / "site.css").write_text(look.read_text() + (here / "site.css").read_text())
