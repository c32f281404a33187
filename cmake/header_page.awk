# awk -f header_page.awk rise.h: the manual page rise.h(3), of the header's own comments and declarations.
#
# The header's first comment is the description, and each `/* ---- name ---- */` begins a section. A comment stands above what
# it is about, up to an empty line; a field and a constant have theirs behind them. Preprocessor lines are left out.

function roff(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/\^/, "\\(ha", text)
    gsub(/~/, "\\(ti", text)
    gsub(/'/, "\\(aq", text)
    gsub(/`/, "", text)
    return text ~ /^\./ ? "\\&" text : text
}
function trimmed(text) {
    gsub(/^[ \t]+|[ \t]+$/, "", text)
    return text
}
# The text of a comment, or of a line of one: without its signs.
function words(text) {
    sub(/^ *\/\* ?/, "", text)
    sub(/ *\*\/ *$/, "", text)
    sub(/^ \* ?/, "", text)
    return text
}
function literal(on) {
    if (on != in_literal)
        print on ? ".nf" : ".fi"
    in_literal = on
}
# What was collected: declarations in bold, and below them what is said of them.
function flush() {
    if (declared != "") {
        print ".PP"
        printf "%s", declared
    }
    if (said != "") {
        if (declared == "")
            print ".PP"
        else
            print ".RS"
        print roff(said)
        if (declared != "")
            print ".RE"
    }
    declared = said = ""
}
function declare(text) {
    declared = declared "\\fB" roff(text) "\\fR\n.br\n"
}
# A field or a constant, and the comment that stands behind it or above it.
function field(text, comment) {
    declared = declared ".TP\n\\fB" roff(text) "\\fR\n" (comment == "" ? "\\&" : roff(comment)) "\n"
}

BEGIN {
    print ".TH RISE.H 3 \"\" \"librise\" \"Library Functions Manual\""
    print ".SH NAME"
    state = "first"
}
state == "first" {
    text = words($0)
    if (FNR == 1) {
        sub(/^librise: /, "", text)
        sub(/\.$/, "", text)
        print "rise.h \\- " roff(text)
        print ".SH SYNOPSIS\n.nf\n\\fB#include <rise.h>\\fR\n"
        print "\\fBcc ... $(pkg\\-config \\-\\-cflags \\-\\-libs rise)\\fR\n.fi\n.SH DESCRIPTION"
        next
    }
    indented = text ~ /^    /
    literal(indented)
    if (text == "") {
        print ".PP"
    } else {
        # `Objects.` at the start of a paragraph is its title.
        title = !indented && after_empty && match(text, /^[A-Z][-A-Za-z ]*\. /) ? substr(text, 1, RLENGTH - 1) : ""
        if (title != "")
            print ".B " roff(title)
        print roff(substr(text, title == "" ? 1 : length(title) + 2))
    }
    after_empty = text == ""
    if (/\*\//)
        state = ""
    next
}
# A section.
state == "" && /^\/\* ---- / {
    flush()
    gsub(/^\/\* -+ | -+ \*\/$/, "")
    print ".SH " toupper($0)
    next
}
state == "" && /^#define RISE_VERSION_/ {
    declare($0)
    next
}
state == "" && /^#|^extern "C"|^}$/ {
    flush()
    next
}
state == "" && /^$/ {
    flush()
    next
}
state == "" && /^\/\*/ {
    if (declared != "")
        flush()
    state = "comment"
    said = ""
}
state == "comment" {
    said = said (said == "" ? "" : " ") trimmed(words($0))
    if (/\*\/$/)
        state = ""
    next
}
# struct and enum: a field a line, with its comment behind it, or above it.
state == "" && /^(typedef )?(struct|enum).*\{$/ {
    declare($0)
    declared = declared ".RS\n"
    state = "body"
    pending = code = ""
    next
}
state == "body" && /^}/ {
    if (code != "")
        field(code, pending)
    declared = declared ".RE\n"
    declare($0)
    state = ""
    next
}
state == "body" && open {
    pending = pending " " trimmed(words($0))
    open = $0 !~ /\*\//
    next
}
state == "body" {
    at = index($0, "/*")
    own = trimmed(at ? substr($0, 1, at - 1) : $0)
    if (code != "" && (own != "" || at)) {
        field(code, pending)
        pending = code = ""
    }
    if (at) {
        comment = substr($0, at)
        open = comment !~ /\*\//
        pending = pending (pending == "" ? "" : " ") trimmed(words(comment))
    }
    if (own != "")
        code = own
    next
}
# All else is a declaration. What stands behind a function begins a new one, so each has its text.
{
    sub(/^RISE_API /, "")
    declare($0)
}
END {
    flush()
    print ".SH SEE ALSO"
    print ".BR risec (1)"
}
