// The TextMate grammar against the lexer: each token of each program of the tree has its class.
//
//     node grammar.js RISEC MODULES GRAMMAR FILE...
"use strict";
const fs = require("fs");
const path = require("path");
const { tokens } = require("./classes.js");

const [risec, modules, grammarPath, ...files] = process.argv.slice(2);
const textmate = require(path.join(modules, "vscode-textmate"));
const oniguruma = require(path.join(modules, "vscode-oniguruma"));

const CLASSES = [
  ["comment.line.documentation", "doc"],
  ["comment", "comment"],
  ["string", "text"],
  ["constant.numeric", "number"],
  ["keyword.operator", "operator"],
  ["keyword", "keyword"],
  ["entity.name.function", "name"],
  ["support.function.primitive", "primitive"],
  ["support.function.size", "function"],
  ["support.type", "type"],
  ["constant.language", "constant"],
  ["variable", "name"],
  ["punctuation.separator", "separator"],
  ["punctuation.bracket", "bracket"],
];

function classOf(scopes) {
  const scope = scopes[scopes.length - 1];
  const found = CLASSES.find(([prefix]) => scope.startsWith(prefix));
  return found ? found[1] : "none";
}

async function main() {
  const wasm = fs.readFileSync(path.join(modules, "vscode-oniguruma/release/onig.wasm")).buffer;
  await oniguruma.loadWASM(wasm);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (p) => new oniguruma.OnigScanner(p),
      createOnigString: (s) => new oniguruma.OnigString(s),
    }),
    loadGrammar: async () =>
      textmate.parseRawGrammar(fs.readFileSync(grammarPath, "utf8"), grammarPath),
  });
  const grammar = await registry.loadGrammar("source.rise");
  let count = 0,
    read = 0,
    wrong = 0;
  for (const file of files) {
    const wanted = tokens(risec, file);
    if (!wanted) continue;
    read++;
    // Columns are bytes: a text is read as if each byte were a letter.
    const lines = fs
      .readFileSync(file, "latin1")
      .replace(/^\xef\xbb\xbf/, "")
      .split("\n");
    let stack = textmate.INITIAL,
      k = 0;
    for (let n = 0; n < lines.length; n++) {
      const got = grammar.tokenizeLine(lines[n], stack);
      stack = got.ruleStack;
      const kinds = [];
      for (const token of got.tokens)
        for (let i = token.startIndex; i < token.endIndex; i++) kinds[i] = classOf(token.scopes);
      for (; k < wanted.length && wanted[k].line === n; k++) {
        const length = Buffer.byteLength(wanted[k].text);
        count++;
        for (let i = 0; i < length; i++)
          if (kinds[wanted[k].column + i] !== wanted[k].kind) {
            if (wrong++ < 20)
              console.log(
                `# ${file}:${n + 1}:${wanted[k].column + 1}: \`${wanted[k].text}\` is ` +
                  `${wanted[k].kind}, and has ${kinds[wanted[k].column + i]}`,
              );
            break;
          }
      }
    }
    if (k !== wanted.length && wrong++ < 20)
      console.log(`# ${file}: ${wanted.length - k} tokens are not seen`);
  }
  console.log(`# ${count} tokens of ${read} programs`);
  console.log(`${wrong || count < 10000 ? "not ok" : "ok"} editor-grammar`);
}

main().catch((error) => {
  console.log(`not ok editor-grammar\n# ${error.stack}`);
});
