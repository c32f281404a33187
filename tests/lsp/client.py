"""A client of `risec lsp`, for tests: messages over pipes, and a text that both sides edit."""
import glob
import json
import queue
import subprocess
import threading


class Gone(Exception):
    """The server has ended, or does not answer."""


class Server:
    """A running server. `diagnostics` has what it says without being asked, by URI; `told` all."""

    SECONDS = 120

    def __init__(self, binary, env=None):
        self.process = subprocess.Popen(
            [binary, "lsp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
        )
        self.arrived = queue.Queue()
        self.errors = b""
        self.number = 0
        self.answers = {}
        self.diagnostics = {}
        self.told = []
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._read_errors, daemon=True).start()

    def _read_errors(self):
        self.errors = self.process.stderr.read()

    def _read(self):
        while True:
            size = None
            while True:
                line = self.process.stdout.readline()
                if not line:
                    self.arrived.put(None)
                    return
                if line == b"\r\n":
                    break
                name, value = line.split(b":")
                if name.lower() == b"content-length":
                    size = int(value)
            self.arrived.put(json.loads(self.process.stdout.read(size)))

    def send_bytes(self, data):
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except BrokenPipeError as error:
            raise Gone("the server has ended") from error

    def send(self, message):
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def notify(self, method, params=None):
        self.send({"jsonrpc": "2.0", "method": method, "params": params or {}})

    def post(self, method, params=None):
        """Sends a request; its number."""
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params or {}})
        return self.number

    def take(self):
        """The next message of the server's."""
        try:
            message = self.arrived.get(timeout=self.SECONDS)
        except queue.Empty as late:
            raise Gone("no answer") from late
        if message is None:
            raise Gone("the server has ended")
        if message.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]
            self.told.append(message["params"])
        elif "id" in message and "method" not in message:
            self.answers[message["id"]] = message
        return message

    def answer(self, number):
        while number not in self.answers:
            self.take()
        return self.answers.pop(number)

    def ask(self, method, params=None):
        """The result; an answer that is an error as a text."""
        answer = self.answer(self.post(method, params))
        return answer["result"] if "result" in answer else f"error {answer['error']['code']}"

    def start(self):
        result = self.ask("initialize", {"capabilities": {}, "processId": None, "rootUri": None})
        self.notify("initialized")
        return result

    def end(self):
        """The exit code and what stood in standard error."""
        self.ask("shutdown")
        self.notify("exit")
        code = self.process.wait(self.SECONDS)
        return code, self.errors

    def kill(self):
        self.process.kill()
        self.process.wait()

    def seconds(self):
        """Processor time of all its threads."""
        total = 0
        for path in glob.glob(f"/proc/{self.process.pid}/task/*/schedstat"):
            with open(path, encoding="ascii") as file:
                total += int(file.read().split()[0])
        return total / 1e9

    def kilobytes(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(next(line for line in file if line.startswith("VmRSS")).split()[1])


def units(text):
    """Its length as LSP counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


class Document:
    """A text that both sides have. Places are indices of the text."""

    def __init__(self, server, uri, text):
        self.server, self.uri, self.text, self.version = server, uri, text, 1
        server.notify(
            "textDocument/didOpen",
            {"textDocument": {"uri": uri, "languageId": "rise", "version": 1, "text": text}},
        )

    def place(self, at):
        before = self.text[:at].replace("\r\n", "\n").replace("\r", "\n")
        line = before.count("\n")
        return {"line": line, "character": units(before[before.rfind("\n") + 1 :])}

    def find(self, words, skip=0):
        """The index of a text; with `|` in it, of that place."""
        bar = words.find("|") if "||" not in words else -1
        plain = (
            words.replace("|", "", 1) if bar >= 0 and "|>" not in words[bar : bar + 2] else words
        )
        at = -1
        for _ in range(skip + 1):
            at = self.text.index(plain, at + 1)
        return at + (bar if plain != words else 0)

    def at(self, place):
        """The index of a place."""
        lines = self.text.replace("\r\n", "\n").split("\n")
        assert "\r" not in self.text
        line = lines[place["line"]]
        count = 0
        for i, char in enumerate(line + "\n"):
            if count >= place["character"]:
                return sum(len(x) + 1 for x in lines[: place["line"]]) + i
            count += units(char)
        return len(self.text)

    def edit(self, lo, hi, text):
        change = {"range": {"start": self.place(lo), "end": self.place(hi)}, "text": text}
        self.text = self.text[:lo] + text + self.text[hi:]
        self.version += 1
        self.server.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": self.uri, "version": self.version},
                "contentChanges": [change],
            },
        )

    def params(self, at, **more):
        return {"textDocument": {"uri": self.uri}, "position": self.place(at), **more}

    def ask(self, method, at=0, **more):
        return self.server.ask(f"textDocument/{method}", self.params(at, **more))

    def problems(self):
        """All diagnostics of the text as it is now."""
        return self.ask("diagnostic")["items"]

    def told(self):
        """What the server says by itself of this version, at first."""
        while self.server.diagnostics.get(self.uri, {}).get("version") != self.version:
            self.server.take()
        return self.server.diagnostics[self.uri]["diagnostics"]

    def whole(self):
        return {"start": {"line": 0, "character": 0}, "end": self.place(len(self.text))}

    def close(self):
        self.server.notify("textDocument/didClose", {"textDocument": {"uri": self.uri}})

    def apply(self, edits):
        """The text after some edits."""
        text = self.text
        for edit in sorted(
            edits,
            key=lambda e: (e["range"]["start"]["line"], e["range"]["start"]["character"]),
            reverse=True,
        ):
            text = (
                text[: self.at(edit["range"]["start"])]
                + edit["newText"]
                + text[self.at(edit["range"]["end"]) :]
            )
        return text
