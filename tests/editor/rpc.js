// The language server through vscode-jsonrpc, which VS Code's client uses.
//
//     node rpc.js RISEC MODULES
"use strict";
const path = require("path");
const { spawn } = require("child_process");

const [risec, modules] = process.argv.slice(2);
const rpc = require(path.join(modules, "vscode-jsonrpc/node"));

const TEXT = `entry sum {n: nat} (xs: n.f32): f32 =
  let doubled = xs |> map(fun x => 2 * x) in
  doubled |> reduce((+), 0)
`;

const same = (got, want, what) => {
  if (JSON.stringify(got) !== JSON.stringify(want))
    throw new Error(`${what}: ${JSON.stringify(got)}, not ${JSON.stringify(want)}`);
};

async function main() {
  const server = spawn(risec, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => server.on("exit", resolve));
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(server.stdout),
    new rpc.StreamMessageWriter(server.stdin),
  );
  let told;
  // Of this version of the text.
  const diagnostics = (version) =>
    new Promise((resolve) => {
      told = (params) => params.version === version && resolve(params);
    });
  connection.onNotification("textDocument/publishDiagnostics", (params) => {
    if (told) told(params);
  });
  connection.listen();
  const started = await connection.sendRequest("initialize", {
    processId: process.pid,
    rootUri: null,
    capabilities: {},
  });
  same(started.capabilities.positionEncoding, "utf-16", "columns");
  connection.sendNotification("initialized", {});
  const textDocument = { uri: "file:///nowhere/sum.rise" };
  let next = diagnostics(1);
  connection.sendNotification("textDocument/didOpen", {
    textDocument: { ...textDocument, languageId: "rise", version: 1, text: TEXT },
  });
  same((await next).diagnostics, [], "diagnostics");
  const position = { line: 1, character: 8 };
  const hover = await connection.sendRequest("textDocument/hover", { textDocument, position });
  same(hover.contents.value.includes("doubled: n.f32"), true, "hover");
  const symbols = await connection.sendRequest("textDocument/documentSymbol", { textDocument });
  same(
    symbols.map((s) => s.name),
    ["sum"],
    "symbols",
  );
  const completion = await connection.sendRequest("textDocument/completion", {
    textDocument,
    position: { line: 2, character: 2 },
  });
  same(completion.items[0].label, "doubled", "completion");
  next = diagnostics(2);
  connection.sendNotification("textDocument/didChange", {
    textDocument: { ...textDocument, version: 2 },
    contentChanges: [
      {
        range: { start: { line: 2, character: 2 }, end: { line: 2, character: 9 } },
        text: "double",
      },
    ],
  });
  same(
    (await next).diagnostics.map((d) => d.code),
    ["E0201"],
    "a mistake",
  );
  const range = { start: { line: 2, character: 2 }, end: { line: 2, character: 3 } };
  const actions = await connection.sendRequest("textDocument/codeAction", {
    textDocument,
    range,
    context: { diagnostics: [] },
  });
  same(Array.isArray(actions), true, "changes");
  const source = new rpc.CancellationTokenSource();
  const cancelled = connection.sendRequest(
    "textDocument/diagnostic",
    { textDocument },
    source.token,
  );
  source.cancel();
  await cancelled.then(
    () => undefined,
    (error) => same(error.code, -32800, "cancelled"),
  );
  await connection.sendRequest("shutdown");
  connection.sendNotification("exit");
  same(await ended, 0, "the end");
  connection.dispose();
}

main().then(
  () => console.log("ok editor-rpc"),
  (error) => {
    console.log(`not ok editor-rpc\n# ${error.stack}`);
    process.exit(0);
  },
);
