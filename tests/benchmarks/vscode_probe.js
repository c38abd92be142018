// An extension beside ours in the same extension host, for bench_vscode: how late its timers are, everybody's are.
const { existsSync, renameSync, watch, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { performance } = require("node:perf_hooks");

const EVERY_MS = 1;

// A file `measure` in its folder begins it; when that is gone, `measured.json` has what was found. `host` has the host's id.
exports.activate = () => {
  const [measure, part, measured] = ["measure", "part", "measured.json"].map((name) => join(process.env.PROBE_FOLDER, name));
  let late;

  function next() {
    const begun = performance.now();
    setTimeout(() => {
      if (late !== undefined) {
        late.push(performance.now() - begun - EVERY_MS);
        next();
      }
    }, EVERY_MS);
  }

  watch(process.env.PROBE_FOLDER, () => {
    if (existsSync(measure) && late === undefined) {
      late = [];
      next();
    } else if (!existsSync(measure) && late !== undefined) {
      writeFileSync(part, JSON.stringify(late));
      late = undefined;
      renameSync(part, measured);
    }
  });
  writeFileSync(part, String(process.pid));
  renameSync(part, join(process.env.PROBE_FOLDER, "host"));
};
