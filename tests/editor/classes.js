// What `risec --emit=tokens` says of the words of a text. Null where it does not parse.
"use strict";
const { spawnSync } = require("child_process");

function tokens(risec, path) {
  const done = spawnSync(risec, ["--emit=tokens", path], { encoding: "utf8", maxBuffer: 1 << 26 });
  if (done.status !== 0) return null;
  return done.stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => {
      const found = /^(\d+):(\d+) (\w+) (.*)$/.exec(line.replace(/\r$/, ""));
      return {
        line: Number(found[1]) - 1,
        column: Number(found[2]) - 1,
        kind: found[3],
        text: found[4],
      };
    });
}

module.exports = { tokens };
