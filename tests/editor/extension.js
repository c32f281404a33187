// The extension of VS Code, with stand-ins for the editor and its client: what it starts, asks
// and shows.
//
//     node extension.js EXTENSION
"use strict";
const Module = require("module");
const path = require("path");

const log = [];
const commands = new Map();
const disposable = { dispose() {} };
const editor = {
  document: {
    languageId: "rise",
    uri: { path: "/a/sum.rise", toString: () => "file:///a/sum.rise" },
  },
  selection: { active: { line: 3, character: 4 } },
};
let provider, changed;
const vscode = {
  ViewColumn: { Beside: -2 },
  EventEmitter: class {
    constructor() {
      this.event = () => disposable;
    }
    fire(uri) {
      log.push(["fire", uri.path]);
    }
  },
  Uri: {
    from: ({ scheme, path: name }) => ({ scheme, path: name, toString: () => `${scheme}:${name}` }),
  },
  workspace: {
    getConfiguration: () => ({ get: () => "/opt/risec" }),
    createFileSystemWatcher: (glob) => glob,
    registerTextDocumentContentProvider: (scheme, given) => {
      provider = given;
      return disposable;
    },
    onDidChangeConfiguration: (listener) => {
      changed = listener;
      return disposable;
    },
    openTextDocument: async (uri) => ({ uri }),
  },
  languages: {
    setTextDocumentLanguage: async (document, language) => log.push(["language", language]),
  },
  window: {
    activeTextEditor: editor,
    showTextDocument: async ({ uri }) =>
      log.push(["show", uri.path, provider.provideTextDocumentContent(uri)]),
    showErrorMessage: (text) => log.push(["error", text]),
  },
  commands: {
    registerCommand: (name, run) => {
      commands.set(name, run);
      return disposable;
    },
  },
};
class LanguageClient {
  constructor(id, name, server) {
    this.server = server;
    this.running = false;
  }
  async start() {
    log.push(["start", this.server.command, ...this.server.args]);
    this.running = true;
  }
  async stop() {
    log.push(["stop"]);
    this.running = false;
  }
  isRunning() {
    return this.running;
  }
  async sendRequest(method, params) {
    log.push([method, params]);
    return "a text";
  }
}

const load = Module._load;
Module._load = (request, ...more) =>
  request === "vscode"
    ? vscode
    : request === "vscode-languageclient/node"
      ? { LanguageClient }
      : load(request, ...more);

const same = (got, want) => {
  if (JSON.stringify(got) !== JSON.stringify(want))
    throw new Error(`${JSON.stringify(got)}, not ${JSON.stringify(want)}`);
};

async function main() {
  const folder = path.resolve(process.argv[2]);
  const extension = require(path.join(folder, "extension.js"));
  const { contributes } = require(path.join(folder, "package.json"));
  await extension.activate({ subscriptions: [] });
  same(log.splice(0), [["start", "/opt/risec", "lsp"]]);
  same([...commands.keys()].sort(), contributes.commands.map((c) => c.command).sort());
  await commands.get("risec.showPlan")();
  same(log.splice(0), [
    [
      "workspace/executeCommand",
      { command: "risec.plan", arguments: ["file:///a/sum.rise", { line: 3, character: 4 }] },
    ],
    ["fire", "/a/sum.rise.plan.txt"],
    ["language", "plaintext"],
    ["show", "/a/sum.rise.plan.txt", "a text"],
  ]);
  await commands.get("risec.showCuda")();
  same(log.splice(0)[0][1].command, "risec.cuda");
  await commands.get("risec.restart")();
  same(log.splice(0), [["stop"], ["start", "/opt/risec", "lsp"]]);
  await changed({ affectsConfiguration: () => true });
  same(log.splice(0).length, 2);
  editor.document.languageId = "c";
  await commands.get("risec.showPlan")();
  same(log.splice(0), []);
  LanguageClient.prototype.start = async () => {
    throw new Error("it is not there");
  };
  await commands.get("risec.restart")();
  same(log.pop()[0], "error");
  await extension.deactivate();
}

main().catch((error) => {
  console.log(error.stack);
  process.exit(1);
});
