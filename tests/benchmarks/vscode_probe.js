// An extension beside ours in the same extension host, for bench_vscode. It is there before all others, and tells what
// each of them takes of a core to be loaded and to be activated; later how late its timers are, everybody's are.
const { existsSync, openSync, readFileSync, readSync, renameSync, watch, writeFileSync } = require("node:fs");
const Module = require("node:module");
const { isAbsolute, join } = require("node:path");
const { performance } = require("node:perf_hooks");
const { extensions } = require("vscode");

const EVERY_MS = 1;
const [host, measure, measured, tell, told] = ["host", "measure", "measured.json", "tell", "told.json"].map((name) =>
  join(process.env.PROBE_FOLDER, name),
);

// Files in its folder are what is asked for and answered. `host` has the host's id. `measure` begins to look at timers;
// when that is gone, `measured.json` has what was found. `tell` asks for `told.json`: what others took.
exports.activate = () => {
  const took = {};
  watchOthers(took);
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

  write(host, String(process.pid));
  watch(process.env.PROBE_FOLDER, () => {
    if (readFileSync(host, "latin1") !== String(process.pid)) {
      return; // that of a window before lives on for a while
    }
    if (existsSync(tell) && !existsSync(told)) {
      write(told, JSON.stringify(took));
    }
    if (existsSync(measure) && late === undefined) {
      late = [];
      next();
    } else if (!existsSync(measure) && late !== undefined) {
      write(measured, JSON.stringify(late));
      late = undefined;
    }
  });
};

/** Into `took`, by the name of the extension: milliseconds of CPU. */
function watchOthers(took) {
  const load = Module._load;
  Module._load = function (request, ...rest) {
    const extension = isAbsolute(request) && extensions.all.find(({ extensionPath }) => request.startsWith(join(extensionPath, "/")));
    if (!extension) {
      return load.call(this, request, ...rest);
    }
    const entry = (took[extension.packageJSON.displayName] ??= { load: 0, activate: 0 });
    const timed = (what, work) => {
      const before = used();
      try {
        return work();
      } finally {
        entry[what] += used() - before;
      }
    };
    const loaded = timed("load", () => load.call(this, request, ...rest));
    return { ...loaded, activate: (...given) => timed("activate", () => loaded.activate?.(...given)) };
  };
}

const SCHEDULED = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
const buffer = Buffer.alloc(100);

/** Milliseconds that this thread has had a core; who else has it meanwhile does not count. */
function used() {
  process.cpuUsage(); // brings what is read next up to date
  const length = readSync(SCHEDULED, buffer, 0, buffer.length, 0);
  return Number(buffer.toString("latin1", 0, length).split(" ")[0]) / 1e6;
}

/** Whole, or not yet. */
function write(path, text) {
  writeFileSync(`${path}.part`, text);
  renameSync(`${path}.part`, path);
}
