/**
 * Converts code that the model cites, `<code="path" #10:20>...</code>`, to a Markdown link and a fenced block. Pure.
 *
 * Does the same as lua/tark/chat/text.lua of the Neovim plugin, and as the server in chat documents.
 */

const OPENING = /<code="([^"\n]*)" #(\d+):?(\d*)>/;
const CLOSING = "</code>";
const TICKS = "````"; // longer than most fences in the code

/** Leaves fenced blocks and other text unchanged. */
export function withCitations(source: string): string {
  if (!source.includes('<code="')) {
    return source;
  }
  const out: string[] = [];
  let fence: string | undefined;
  let cited: { path: string; opened: boolean } | undefined;

  const close = (): void => {
    if (cited?.opened) {
      out.push(TICKS, "");
    }
    cited = undefined;
  };
  const feed = (line: string): void => {
    if (cited !== undefined) {
      const ends = [line.indexOf(CLOSING), OPENING.exec(line)?.index ?? -1].filter((at) => at >= 0);
      const end = Math.min(...ends, line.length);
      const words = line.slice(0, end).replaceAll("<\\/code>", CLOSING);
      if (ends.length === 0 || words.trim() !== "") {
        if (!cited.opened) {
          out.push(TICKS + ending(cited.path));
          cited.opened = true;
        }
        out.push(closes(TICKS, words) ? `    ${words}` : words);
      }
      if (ends.length > 0) {
        close();
        rest(line.slice(line.startsWith(CLOSING, end) ? end + CLOSING.length : end));
      }
      return;
    }
    if (fence !== undefined) {
      fence = closes(fence, line) ? undefined : fence;
      out.push(line);
      return;
    }
    const match = OPENING.exec(line);
    if (match === null) {
      fence = /^ {0,3}(?:(`{3,})[^`]*$|(~{3,}))/.exec(line)?.[0].trim().match(/^(`+|~+)/)?.[0];
      out.push(line);
      return;
    }
    const before = line.slice(0, match.index);
    out.push(...(before.trim() === "" ? [] : [before]), "");
    const path = match[1]!.replaceAll("%22", '"');
    out.push(link(path, match[2]!, match[3]!), "");
    cited = { path, opened: false };
    rest(line.slice(match.index + match[0].length));
  };
  const rest = (words: string): void => {
    if (words.trim() !== "") {
      feed(words);
    }
  };

  source.split("\n").forEach(feed);
  close();
  return out.join("\n");
}

function closes(fence: string, line: string): boolean {
  const marks = /^ {0,3}(`+|~+)\s*$/.exec(line)?.[1];
  return marks !== undefined && fence.startsWith(marks.charAt(0)) && marks.length >= fence.length;
}

function ending(path: string): string {
  return /\.(\w{1,12})$/.exec(path)?.[1] ?? "";
}

function link(path: string, first: string, last: string): string {
  const ranged = last !== "" && Number(last) > Number(first);
  const label = `${path.replace(/[[\]\\`*_<>]/g, "")}:${first}${ranged ? `-${last}` : ""}`;
  const to = path.replace(/[\s()<>#%\\]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
  return `[${label}](${to}#L${first}${ranged ? `-L${last}` : ""})`;
}
