/** Reads what a code block of an answer says about itself: its language, and the file that it is about. Pure. */

export interface CodeBlock {
  readonly text: string;
  /** The words after the opening fence. */
  readonly info: string;
  /** The text right before the block. */
  readonly before: string;
}

export interface ReadBlock {
  /** As in the fence, else by the ending of the path; "" if unknown. */
  readonly language: string;
  readonly path?: string;
  /** The code without a first comment line that only names the file. */
  readonly text: string;
}

/** By VS Code's id of a language: its other names, which are also endings of files. */
const LANGUAGES: Readonly<Record<string, string>> = {
  bat: "cmd", c: "h", clojure: "clj", cpp: "cc cxx c++ hpp", csharp: "cs c#", css: "", dart: "", dockerfile: "docker", elixir: "ex exs",
  fsharp: "fs", go: "golang", groovy: "gradle", haskell: "hs", html: "htm", ini: "cfg conf", java: "", javascript: "js mjs cjs",
  javascriptreact: "jsx", json: "", jsonc: "", julia: "jl", kotlin: "kt kts", less: "", lua: "", makefile: "make mk", markdown: "md",
  perl: "pl", php: "", plaintext: "txt text", powershell: "ps1", properties: "env", python: "py pyi py3", r: "", ruby: "rb", rust: "rs",
  scala: "sbt", scss: "", shellscript: "sh bash shell zsh", sql: "", svelte: "", swift: "", terraform: "tf", toml: "", typescript: "ts mts cts",
  typescriptreact: "tsx", vb: "", vue: "", xml: "svg", yaml: "yml", zig: "",
};
const IDS = new Map(Object.entries(LANGUAGES).flatMap(([id, others]) => `${id} ${others}`.trim().split(" ").map((name) => [name, id])));
const NO_ENDING = /(?:^|[\\/])(?:Makefile|Dockerfile|Justfile|Rakefile|Gemfile|Procfile|CMakeLists\.txt)$/;
const ATTRIBUTE = /(?:^|[\s{,])(?:title|file(?:-?name|-?path)?|path|name)\s*[=:]\s*(?:"([^"\n]{1,300})"|'([^'\n]{1,300})'|([^\s"'},]{1,300}))/i;
const NUMBERED = /^\d+:\d+:(.+)$/; // first line, last line, path
const LINES = /(?::\d+(?:-\d+)?|#L\d+(?:-L?\d+)?)$/;
const COMMENT = /^\s*(?:\/\/|#(?!!)|--|;+|%|\/\*|<!--)\s*(?:(file(?: ?name| ?path)?|path)\s*:\s*)?[`"']?([^\s`"'*<>][^`"'*<>\n]{0,299}?)[`"']?\s*(?:\*\/|-->)?\s*$/i;
const PATHS = /(?<![\w@~.+:\\/-])(?:[\w@~.+()[\]-]+[\\/])*[\w@.+()[\]-]{1,100}/g;
const LOOKED_AT = 500; // characters of the text before

export function languageOf(info: string): string {
  const word = firstWord(info);
  const told = /^[\w+#.-]{1,30}(?=$|[\s:{,])/.exec(word)?.[0].toLowerCase() ?? "";
  return told !== "" && !isPath(told) && !NUMBERED.test(word) ? told : ending(pathOfInfo(info) ?? "");
}

export function readBlock(block: CodeBlock): ReadBlock {
  const { path, ...rest } = findPath(block);
  return { ...rest, ...(path !== undefined && { path: withSlashes(path) }) };
}

/** Some models write Windows paths. A path with a drive or a host stays as it is, and the server refuses it. */
function withSlashes(path: string): string {
  return /^[A-Za-z]:|^\\\\/.test(path) ? path : path.replaceAll("\\", "/");
}

function findPath({ text, info, before }: CodeBlock): ReadBlock {
  const language = languageOf(info);
  const inInfo = pathOfInfo(info);
  if (inInfo !== undefined) {
    return { language, path: inInfo, text };
  }
  const [first = ""] = text.split("\n", 1);
  const comment = first.length > 400 ? null : COMMENT.exec(first);
  const inComment = comment?.[2]?.trim().replace(LINES, "");
  if (inComment !== undefined && (comment?.[1] !== undefined || isPath(inComment)) && !/\s/.test(inComment)) {
    return { language: language || ending(inComment), path: inComment, text: text.slice(first.length + 1).replace(/^[ \t]*\n/, "") };
  }
  const named = pathBefore(before, language);
  return { language, ...(named !== undefined && { path: named }), text };
}

/** VS Code's id for the language; "" if it is not known. */
export function languageId({ language, path }: Pick<ReadBlock, "language" | "path">): string {
  return IDS.get(language) ?? IDS.get(ending(path ?? "")) ?? "";
}

function firstWord(info: string): string {
  return /^\S{0,300}/.exec(info.trim())![0];
}

function pathOfInfo(info: string): string | undefined {
  const attribute = ATTRIBUTE.exec(info.slice(0, 1000));
  const told = attribute?.[1] ?? attribute?.[2] ?? attribute?.[3];
  if (told !== undefined) {
    return isPath(told.replace(LINES, "")) ? told.replace(LINES, "") : undefined; // a title can be any words
  }
  const [word = "", second = ""] = info.trim().slice(0, 700).split(/\s+/);
  const numbered = NUMBERED.exec(word)?.[1];
  if (numbered !== undefined) {
    return numbered;
  }
  const afterColon = /^[\w+#.-]{1,30}:(?!\/\/)(.+)$/.exec(word)?.[1]?.replace(LINES, "");
  return [afterColon, word.replace(LINES, ""), second.replace(LINES, "")].find((some) => some !== undefined && isPath(some));
}

/** The only path in the last line before the block. A path of another language is not about this code. */
function pathBefore(before: string, language: string): string | undefined {
  const line = before.trimEnd().slice(-LOOKED_AT).split("\n").at(-1) ?? "";
  const found = [...line.matchAll(PATHS)].map(([words]) => words.replace(/^[([]+|[.)\]]+$/g, "")).filter(isPath);
  const id = IDS.get(language);
  const some = new Set(found.filter((path) => id === undefined || [undefined, id].includes(IDS.get(ending(path)))));
  return some.size === 1 ? [...some][0] : undefined;
}

/** Does the text have a folder and an extension, or a known extension? The server decides whether the path is allowed. */
function isPath(words: string): boolean {
  const name = words.split(/[\\/]/).at(-1)!;
  const dotted = /[^.]\.([A-Za-z]\w{0,9})$/.exec(name);
  return NO_ENDING.test(words) || (dotted !== null && (name !== words || IDS.has(dotted[1]!.toLowerCase())));
}

function ending(path: string): string {
  return /\.([A-Za-z]\w{0,9})$/.exec(path)?.[1]?.toLowerCase() ?? "";
}
