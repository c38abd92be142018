/** Files, texts and images that are attached to a prompt, and which of them can be sent. Pure. */

import type { Range } from "../model/protocol";

/** A file has a `uri`; an image or a pasted text has `data`: base64 of the image, or the text. `mimeType` is set for images. */
export interface Attached {
  readonly id: string;
  readonly name: string;
  readonly uri?: string;
  readonly mimeType?: string;
  readonly data?: string;
}

/** What is sent with a prompt. */
export interface PromptContext {
  readonly textDocument?: { readonly uri: string; readonly version: number };
  /** The selection in the document. */
  readonly range?: Range;
  readonly attached: readonly Attached[];
}

const LARGEST_IMAGE = 3_750_000; // bytes; the server has the same limit
const LARGEST_FILE = 10_000_000; // as well
const LARGEST_TEXT = 1_000_000;
const TYPES: Readonly<Record<string, string>> = { png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp" };

/** The media type of an image that can be sent, by its file extension. */
export function imageType(name: string): string | undefined {
  return TYPES[/\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? ""];
}

/** Throws if the attachment cannot be sent. The server checks images more closely. `isFile`: the server reads it itself. */
export function checkAttached({ name, mimeType, size, isFile = false }: { name: string; mimeType?: string; size: number; isFile?: boolean }): void {
  if (mimeType !== undefined && !Object.values(TYPES).includes(mimeType)) {
    throw new Error(`${name} is ${mimeType || "of an unknown type"}: only PNG, JPEG, GIF and WebP images can be sent`);
  }
  const largest = mimeType !== undefined ? LARGEST_IMAGE : isFile ? LARGEST_FILE : LARGEST_TEXT;
  if (size > largest) {
    throw new Error(`${name} is larger than ${largest / 1e6} MB`);
  }
}

/**
 * The `file:` URI of something that was dropped. In a remote window, files on this side have `vscode-remote:` URIs.
 * Undefined: it is not a file.
 */
export function fileOfDropped(uri: string): string | undefined {
  const found = /^(?:file:\/\/|vscode-remote:\/\/[^/]+)(\/.*)$/.exec(uri.trim());
  return found ? `file://${found[1]}` : undefined;
}

/** The `context` of `tark.turn.start`. */
export function contextParts(attached: readonly Attached[]): readonly object[] {
  return attached.map(({ name, uri, mimeType, data }) =>
    uri !== undefined ? { type: "file", uri } : mimeType !== undefined ? { type: "image", name, mimeType, data } : { type: "text", name, text: data },
  );
}
