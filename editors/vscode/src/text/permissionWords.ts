/** How the editor and the chat describe a permission request. Pure. */

/** By the risk of `tark/requestPermission`. */
export const RISKS: Readonly<Record<string, string>> = {
  read_only: "only reads",
  write: "writes",
  risky: "risky",
  dangerous: "DANGEROUS",
};

/** What a grant covers, without repeating the command, which is shown beside it. */
export function grantCoverage(command: string | undefined, covers: string): string {
  const quoted = `\`${command ?? ""}\``;
  return command !== undefined && covers.startsWith(quoted) ? `exactly this command${covers.slice(quoted.length)}` : covers;
}
