/** Highlights code with the core of highlight.js and common languages. Returns runs of text with their scopes. Pure. */

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import lua from "highlight.js/lib/languages/lua";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const LANGUAGES = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  lua,
  php,
  python,
  ruby,
  rust,
  sql,
  swift,
  typescript,
  xml,
  yaml,
};
const LONGEST = 20_000; // characters; longer code takes too much time

export interface HighlightRun {
  readonly text: string;
  /** A scope of highlight.js, such as `keyword` or `title.function`. */
  readonly scope?: string;
}

/** Collects runs instead of the HTML that highlight.js creates by default. */
class Runs {
  readonly runs: HighlightRun[] = [];
  private readonly scopes: string[] = [];

  addText(text: string): void {
    const scope = this.scopes.at(-1);
    if (text !== "") {
      this.runs.push(scope === undefined ? { text } : { text, scope });
    }
  }

  startScope(scope: string): void {
    this.scopes.push(scope);
  }

  endScope(): void {
    this.scopes.pop();
  }

  __addSublanguage(other: unknown): void {
    this.runs.push(...(other as Runs).runs);
  }

  openNode(scope: string): void {
    this.startScope(scope);
  }

  closeNode(): void {
    this.endScope();
  }

  finalize(): void {
    this.scopes.length = 0;
  }

  toHTML(): string {
    return "";
  }
}

hljs.configure({ __emitter: Runs });
for (const [name, language] of Object.entries(LANGUAGES)) {
  hljs.registerLanguage(name, language);
}

/** `language`: the info string of a fence, or a file extension. */
export function highlighted(code: string, language: string): readonly HighlightRun[] {
  if (code.length > LONGEST || hljs.getLanguage(language) === undefined) {
    return [{ text: code }];
  }
  const runs = (hljs.highlight(code, { language, ignoreIllegals: true })._emitter as unknown as Runs).runs;
  // The runs must add up to the same code.
  return runs.map((run) => run.text).join("") === code ? runs : [{ text: code }];
}
