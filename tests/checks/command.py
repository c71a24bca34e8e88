#!/usr/bin/env python3
"""command.py ROOT TRIBO [--write]: what is written of the command's options is what the command knows.

Lists between `<!-- tribo --describe ... -->` and `<!-- end -->` of docs/command.md are made by those words (--write makes
them anew); options that documents use are there; man pages have no warnings; completion is well-formed."""
import json
import pathlib
import re
import shutil
import subprocess
import sys

root, tribo = pathlib.Path(sys.argv[1]), sys.argv[2]
bad = 0


def run(*words):
    return subprocess.run([tribo, *words], capture_output=True, text=True, check=True).stdout


def complain(text):
    global bad
    bad += 1
    print(text)


def lists():
    path = root / "docs/command.md"
    text = path.read_text(encoding="utf-8")
    made = re.sub(
        r"(<!-- tribo (--describe[^>]*) -->\n).*?(<!-- end -->)",
        lambda m: m[1] + run(*m[2].split()) + m[3],
        text,
        flags=re.S,
    )
    if made != text and "--write" in sys.argv:
        path.write_text(made, encoding="utf-8")
    elif made != text:
        complain(f"{path}: its lists are not those of the command: tests/checks/command.py . build/tools/tribo --write")
    for verb in verbs:
        if f"--describe markdown {verb} -->" not in text:
            complain(f"{path}: there is no list of the options of {verb}")


def is_known(verb, option):
    return any(option == o["name"] for o in verbs[verb]["options"])


def documents():
    """Every `tribo VERB ... --option` of README and docs, in code of a line or of a block."""
    for path in [root / "README.md", *sorted(root.glob("docs/*.md")), *sorted(root.glob("examples/**/*.md"))]:
        text = path.read_text(encoding="utf-8").replace("\\\n", " ")
        code = re.findall(r"```.*?\n(.*?)```", text, flags=re.S) + re.findall(r"`([^`\n]*)`", text)
        code += [line for line in text.splitlines() if line.startswith("    ")]
        for line in "\n".join(code).splitlines():
            words = re.match(r"\s*(?:\$ )?(?:\S*/)?tribo ([a-z]+)(.*)", line)
            if not words or words[1] == "help":
                continue
            if words[1] not in verbs:
                complain(f"{path}: there is no verb in: {line.strip()}")
                continue
            for option in re.findall(r"(?<![\w-])--([a-z][a-z-]*)", words[2].split(" #")[0]):
                if not is_known(words[1], option):
                    complain(f"{path}: {words[1]} has no option --{option}: {line.strip()}")


def pages():
    listed = re.search(r"^verbs = \[(.*)\]", (root / "tools/meson.build").read_text(encoding="utf-8"), flags=re.M)
    if not listed or re.findall(r"'([a-z]+)'", listed[1]) != list(verbs):
        complain("tools/meson.build: its verbs, each with a man page, are not those of the command")
    for verb in [None, *verbs]:
        page = run("--describe", "man", *([verb] if verb else []))
        for option in verbs[verb]["options"] if verb else []:
            if "\\-\\-" + option["name"].replace("-", "\\-") not in page:
                complain(f"man tribo-{verb}: does not have --{option['name']}")
        if shutil.which("groff"):
            said = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, capture_output=True, text=True)
            if said.stderr:
                complain(f"man {verb or 'tribo'}: {said.stderr.strip()}")


def completion():
    for shell in ("bash", "zsh"):
        if shutil.which(shell):
            said = subprocess.run([shell, "-n"], input=run("--describe", shell), capture_output=True, text=True)
            if said.returncode or said.stderr:
                complain(f"{shell}: {said.stderr.strip()}")


verbs = {v["name"]: v for v in json.loads(run("--describe", "json"))["verbs"]}
lists(), documents(), pages(), completion()
sys.exit(bad != 0)
