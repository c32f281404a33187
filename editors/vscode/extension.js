// Starts `risec lsp` for RISE programs, and shows plans and CUDA C beside them.
"use strict";
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const SCHEME = "risec";
let client;

// Texts that commands made, by their addresses.
class Shown {
  constructor() {
    this.texts = new Map();
    this.changed = new vscode.EventEmitter();
    this.onDidChange = this.changed.event;
  }

  provideTextDocumentContent(uri) {
    return this.texts.get(uri.toString()) || "";
  }

  async show(name, text, language) {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: name });
    this.texts.set(uri.toString(), text);
    this.changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.languages
      .setTextDocumentLanguage(document, language)
      .then(undefined, () => undefined);
    await vscode.window.showTextDocument(document, {
      viewColumn: vscode.ViewColumn.Beside,
      preview: true,
      preserveFocus: true,
    });
  }
}

function newClient() {
  const command = vscode.workspace.getConfiguration("risec").get("path") || "risec";
  const options = {
    documentSelector: [
      { language: "rise", scheme: "file" },
      { language: "rise", scheme: "untitled" },
    ],
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.rise") },
  };
  return new LanguageClient("risec", "risec", { command, args: ["lsp"] }, options);
}

async function start() {
  client = newClient();
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(
      `risec could not be started: ${error.message}. The setting risec.path says where it is.`,
    );
  }
}

async function stop() {
  const old = client;
  client = undefined;
  if (old && old.isRunning()) await old.stop();
}

// The text of a command about the entry at the cursor.
async function ask(command, shown, suffix, language) {
  const editor = vscode.window.activeTextEditor;
  if (!client || !client.isRunning() || !editor || editor.document.languageId !== "rise") return;
  const { line, character } = editor.selection.active;
  const text = await client.sendRequest("workspace/executeCommand", {
    command,
    arguments: [editor.document.uri.toString(), { line, character }],
  });
  await shown.show(`${editor.document.uri.path}${suffix}`, text, language);
}

async function activate(context) {
  const shown = new Shown();
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, shown),
    vscode.commands.registerCommand("risec.showPlan", () =>
      ask("risec.plan", shown, ".plan.txt", "plaintext"),
    ),
    vscode.commands.registerCommand("risec.showCuda", () =>
      ask("risec.cuda", shown, ".cu", "cuda-cpp"),
    ),
    vscode.commands.registerCommand("risec.restart", async () => {
      await stop();
      await start();
    }),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("risec.path")) {
        await stop();
        await start();
      }
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
