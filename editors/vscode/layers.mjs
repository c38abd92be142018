// The layers of src/, and the eslint rule that holds them. src/README.md describes them.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, posix, relative, sep } from "node:path";

// Lowest first. A module imports from its own layer and from those before it, types included.
// Files directly in src/ (extension.ts, commands.ts) are above all layers.
export const LAYERS = ["text", "model", "window", "server", "turns", "review", "asking", "status", "setup", "pickers", "chat", "commit", "mcp"];

// The page of the chat is a bundle of its own that runs in a browser, so it sees no more than this.
const PAGE = "chat/page";
const SEEN_BY_PAGE = ["text", "model", PAGE, "chat/messages"];

/** Paths are relative to src/, without an extension. Returns why `from` must not import `to`, or undefined if it may. */
export function forbiddenImport(from, to) {
  if (isIn(from, PAGE)) {
    return SEEN_BY_PAGE.some((allowed) => isIn(to, allowed)) ? undefined : `${PAGE} imports only ${SEEN_BY_PAGE.join(", ")}`;
  }
  if (isIn(to, PAGE)) {
    return `only ${PAGE} imports ${PAGE}`;
  }
  const [layer, other] = [layerOf(from), layerOf(to)];
  return level(other) > level(layer) ? `${layer} is below ${other}, so it must not import it` : undefined;
}

function isIn(path, folder) {
  return path === folder || path.startsWith(`${folder}/`);
}

function layerOf(path) {
  return path.includes("/") ? path.split("/", 1)[0] : "src";
}

function level(layer) {
  const index = LAYERS.indexOf(layer);
  return index < 0 ? LAYERS.length : index;
}

/** The modules of a folder and what each imports, types and `import()` included, as paths without an extension. */
export function importGraph(folder) {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const graph = new Map();
  for (const name of names) {
    const path = withoutExtension(name);
    const source = readFileSync(`${folder}/${name}`, "utf8");
    const imports = [...source.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*"(\.[^"]+)"/g)];
    graph.set(path, imports.map(([, target]) => resolved(path, target)).filter((target) => !target.endsWith(".css")));
  }
  return graph;
}

/** The groups of modules that import one another in a circle: the strongly connected components (Tarjan). */
export function importCycles(graph) {
  const order = new Map();
  const lowest = new Map();
  const stack = [];
  const cycles = [];
  const visit = (node) => {
    order.set(node, order.size);
    lowest.set(node, order.get(node));
    stack.push(node);
    for (const target of graph.get(node) ?? []) {
      if (!order.has(target)) {
        visit(target);
        lowest.set(node, Math.min(lowest.get(node), lowest.get(target)));
      } else if (stack.includes(target)) {
        lowest.set(node, Math.min(lowest.get(node), order.get(target)));
      }
    }
    if (lowest.get(node) === order.get(node)) {
      const group = stack.splice(stack.indexOf(node));
      if (group.length > 1 || (graph.get(node) ?? []).includes(node)) {
        cycles.push(group);
      }
    }
  };
  for (const node of graph.keys()) {
    if (!order.has(node)) {
      visit(node);
    }
  }
  return cycles;
}

function resolved(from, target) {
  return posix.join(dirname(from), target);
}

function withoutExtension(name) {
  return name.split(sep).join("/").replace(/\.ts$/, "");
}

const rule = {
  meta: { type: "problem", schema: [], messages: { forbidden: "{{why}} (layers.mjs)" } },
  create(context) {
    const from = withoutExtension(relative(`${import.meta.dirname}/src`, context.filename));
    const check = ({ source }) => {
      if (source?.type === "Literal" && String(source.value).startsWith(".")) {
        const why = forbiddenImport(from, resolved(from, source.value));
        if (why !== undefined) {
          context.report({ node: source, messageId: "forbidden", data: { why } });
        }
      }
    };
    return { ImportDeclaration: check, ExportNamedDeclaration: check, ExportAllDeclaration: check, ImportExpression: check };
  },
};

export default { rules: { layers: rule } };
