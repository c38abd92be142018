/** Adapts code to the place of the cursor. Pure. */

/**
 * `before` and `after`: the cursor's line on both sides of the cursor. If only white space is before the cursor, the code
 * gets this indentation. The last line ending stays only if code follows on the line.
 */
export function fitToCursor(code: string, before: string, after: string): string {
  const lines = code.replace(/^(?:[ \t]*\n)+|\s+$/g, "").split("\n");
  const own = commonIndent(lines);
  const indent = /^\s*/.exec(before)![0];
  const whole = indent === before; // else the first line continues a line
  const fitted = lines.map((line, at) => {
    const flush = line.slice(own.length);
    return at === 0 || flush.trim() === "" ? flush : indent + flush;
  });
  const follows = whole && after.trim() !== "" ? `\n${indent}` : "";
  return fitted.join("\n") + follows;
}

function commonIndent(lines: readonly string[]): string {
  const some = lines.filter((line) => line.trim() !== "").map((line) => /^[ \t]*/.exec(line)![0]);
  return some.reduce((common, indent) => {
    let same = 0;
    while (same < common.length && common[same] === indent[same]) {
      same += 1;
    }
    return common.slice(0, same);
  }, some[0] ?? "");
}
