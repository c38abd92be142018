// Builds the extension and the page of the chat. With --tests: the unit tests, for `node --test`;
// with --host-tests: the tests for the extension host.
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { build, context } from "esbuild";
import { notices } from "./notices.mjs";

const options = new Set(process.argv.slice(2));
const production = options.has("--production");

const common = {
  bundle: true,
  minify: production,
  sourcemap: production ? false : "linked",
  logLevel: "warning",
  legalComments: "none", // notices.mjs collects the complete licences
  metafile: production,
};

const LANGUAGE_CLIENT = "vscode-languageclient/node";

// Two thirds of the extension, in a separate file that is read when the server starts, not when the window opens.
const languageClientApart = {
  name: "languageClientApart",
  setup: ({ onResolve }) =>
    onResolve({ filter: new RegExp(`^${LANGUAGE_CLIENT}$`) }, () => ({ path: "./languageClient.js", external: true })),
};

const IMPORT = 'import * as vscode from "vscode";';

// One `vscode` for all files. By default, esbuild copies the whole API for each file, name by name. That would double the
// time to load the extension.
const oneVscode = {
  name: "oneVscode",
  setup: ({ initialOptions, onLoad }) => {
    initialOptions.banner = { js: '"use strict"; const vscode = require("vscode");' };
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
      const contents = (await readFile(path, "utf8")).replace(IMPORT, "");
      const other = /^import (?!type ).* from "vscode";/m.exec(contents);
      const errors = other ? [{ text: `write ${IMPORT}`, location: { file: path, lineText: other[0] } }] : [];
      return { contents, loader: "ts", errors };
    });
  },
};

const node = {
  ...common,
  outdir: "dist",
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  mainFields: ["module", "main"],
};

const bundles = [
  { ...node, entryPoints: { extension: "src/extension.ts" }, plugins: [languageClientApart, oneVscode] },
  { ...node, entryPoints: { languageClient: LANGUAGE_CLIENT } },
  {
    ...common,
    entryPoints: { chat: "src/chat/page/main.ts" },
    outdir: "dist",
    platform: "browser",
    format: "iife",
    target: "chrome122",
  },
];

const unitTests = readdirSync("test/unit").filter((name) => name.endsWith(".test.ts"));

// One program with happy-dom in it: to read the 640 modules of happy-dom for each file took most of the tests' time.
const unit = {
  ...node,
  stdin: { contents: unitTests.map((name) => `import "./${name}";`).join("\n"), resolveDir: "test/unit" },
  outdir: undefined,
  outfile: "out/unit.test.js",
  sourcemap: "inline",
};

// Runs in the extension host, which reads mocha from node_modules.
const host = { ...node, entryPoints: ["test/host/index.ts"], outdir: "out/host", sourcemap: "inline", external: ["vscode", "mocha"] };

if (options.has("--tests")) {
  await build(unit);
} else if (options.has("--host-tests")) {
  await build(host);
} else if (options.has("--watch")) {
  for (const bundle of bundles) {
    await (await context(bundle)).watch();
  }
} else {
  mkdirSync("dist", { recursive: true });
  for (const old of readdirSync("dist").filter((name) => !name.endsWith(".vsix"))) {
    rmSync(`dist/${old}`);
  }
  const built = await Promise.all(bundles.map((bundle) => build(bundle)));
  if (production) {
    writeFileSync("dist/NOTICES.txt", notices(built.map(({ metafile }) => metafile)));
    copyFileSync("../../LICENSE", "LICENSE");
  }
}
