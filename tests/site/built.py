#!/usr/bin/env python3
"""The files of the site: built.py BUILT. Prints `ok NAME` or `not ok NAME`.

- pages: README and each page of docs has a file with its title, to which README's file has a link
- links: each link to a page or file of the site leads to one, and each anchor to an element
- colours: tokens of RISE of different classes have different colours

Links and colours are also shown to find a planted fault.
"""
import glob
import os
import posixpath
import re
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# A class of tokens, and a token of it that stands in code of README or docs. Names have the colour
# of plain text.
CLASSES = {"comment": "-- ", "number": "1024", "keyword": "entry",
           "primitive": "reduce", "type": "f32", "operator": "|>", "name": "xs"}
DISTINCT = ("comment", "keyword", "primitive", "name")


class Page(HTMLParser):
    """The ids, addresses and title of a page, and the coloured words of its blocks of RISE."""
    def __init__(self, text):
        super().__init__()
        self.ids, self.addresses, self.title = set(), [], ""
        self.tags, self.words, self.rise = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids |= {found["id"]} if "id" in found else set()
        self.addresses += [found[key] for key in ("href", "src") if found.get(key)]
        if tag in ("meta", "link", "img", "input", "br", "hr", "wbr"):
            return
        self.tags.append((tag, found.get("style") or ""))
        if "language-rise" in (found.get("class") or "").split():
            self.rise = len(self.tags)

    def handle_endtag(self, tag):
        while self.tags and self.tags.pop()[0] != tag:
            pass
        if self.rise and len(self.tags) < self.rise:
            self.rise = None

    def handle_data(self, data):
        tag, style = self.tags[-1] if self.tags else ("", "")
        if tag == "title":
            self.title += data
        elif self.rise and tag == "span" and style:
            self.words.append((data.strip(), style))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def sources():
    paths = ["README.md", *glob.glob("docs/**/*.md", root_dir=ROOT, recursive=True)]
    return {path: re.sub(r"README$", "index", path[:-3]) + ".html" for path in sorted(paths)}


def page_faults(built):
    linked = {path for _, path, _ in targets("index.html", built["index.html"])}
    for source, path in sources().items():
        heading = re.search(r"^# (.*)", read(f"{ROOT}/{source}"), re.M)[1].replace("`", "")
        if path not in built:
            yield f"{source}: there is no {path}"
        elif not built[path].title.startswith(heading):
            yield f"{path}: the title is {built[path].title!r}, and not {heading!r}"
        elif path not in linked:
            yield f"{source}: neither the navigation nor README leads there"


def targets(path, page):
    """(address, file, anchor) of what is in the site."""
    for address in page.addresses:
        target, anchor = urldefrag(address)
        if not re.match(r"[a-z]+:|//", address):
            file = posixpath.normpath(posixpath.join("/", posixpath.dirname(path), unquote(target)))
            folder = target.endswith("/") or file == "/"
            file = posixpath.join(file, "index.html") if folder else file
            yield address, file[1:] if target else path, unquote(anchor)


def link_faults(built, folder):
    for path, page in built.items():
        for address, file, anchor in targets(path, page):
            if not os.path.isfile(f"{folder}/{file}"):
                yield f"{path}: there is no {address}"
            elif anchor and anchor not in built[file].ids:
                yield f"{path}: nothing has the anchor of {address}"


def colours(built):
    """The colours that each class of tokens has."""
    words = [word for page in built.values() for word in page.words]
    return {name: {style for word, style in words if token == word
                   or name == "comment" and word.startswith(token)}
            for name, token in CLASSES.items()}


def colour_faults(found):
    for name, styles in found.items():
        if len(styles) != 1:
            yield f"a {name} has these colours: {sorted(styles)}"
    seen = {name: found[name] for name in DISTINCT}
    for name, styles in seen.items():
        same = [other for other in seen if other < name and seen[other] == styles]
        yield from (f"a {name} has the colour of a {other}" for other in same)


def report(name, faults):
    print("not ok" if faults else "ok", f"site-{name}")
    for fault in faults[:20]:
        print(f"# {fault}")


def planted(built, folder):
    bad = {**built, "index.html": Page("<a href='/nowhere.html'></a><a href='#nowhere'></a>")}
    faults = [] if len(list(link_faults(bad, folder))) == 2 else ["a broken link is not found"]
    plain = {name: {""} for name in CLASSES}
    return faults + ([] if list(colour_faults(plain)) else ["a page without colours is not found"])


def main():
    folder = sys.argv[1]
    paths = glob.glob("**/*.html", root_dir=folder, recursive=True)
    built = {path: Page(read(f"{folder}/{path}")) for path in paths}
    report("pages", list(page_faults(built)))
    report("links", list(link_faults(built, folder)))
    report("colours", list(colour_faults(colours(built))))
    report("built-planted", planted(built, folder))


if __name__ == "__main__":
    main()
