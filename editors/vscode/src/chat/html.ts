/** The HTML of the chat. Its content security policy allows only two files of the extension. Pure. */

import { randomBytes } from "node:crypto";

export interface Sources {
  /** The origin from which VS Code serves the extension's files. */
  readonly cspSource: string;
  readonly script: string;
  readonly style: string;
  /** The id of the tab that shows the page. The page has VS Code store it. */
  readonly tab?: string | undefined;
}

export function pageHtml({ cspSource, script, style, tab }: Sources, nonce = randomBytes(16).toString("base64url")): string {
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${cspSource}`,
    "img-src data:", // the thumbnails of attached images
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta http-equiv="x-dns-prefetch-control" content="off">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tark</title>
<link rel="stylesheet" href="${style}">
</head>
<body${tab === undefined ? "" : ` data-tab="${tab}"`}>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}
