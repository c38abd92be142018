// Collects the complete licences of all bundled packages in one text, as the licences require.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const LICENCE = /^licen[cs]e\b/i;
const PACKAGE = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;

/** `metafiles`: the metafiles of the bundles. Throws if a package has no licence. */
export function notices(metafiles) {
  const inputs = metafiles.flatMap(({ inputs }) => Object.keys(inputs));
  const folders = new Set(inputs.map((file) => PACKAGE.exec(file)?.[1]).filter((folder) => folder !== undefined));
  return [...folders].sort().map(notice).join("\n\n");
}

function notice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => LICENCE.test(entry));
  if (file === undefined && license === undefined) {
    throw new Error(`${name} ${version} is bundled and has no licence`);
  }
  const text = file === undefined ? "" : readFileSync(join(folder, file), "utf8").trim();
  return `--- ${name} ${version} (${license}) ---\n\n${text}\n`;
}
