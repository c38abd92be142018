/**
 * What is attached to the prompt: files and images, and the file that the user works in, with its selection. All of this
 * is sent with the next prompt. The page shows the attachments, but does not hold them.
 */

import * as vscode from "vscode";
import type { Disposable } from "../model/events";
import type { Place } from "../model/place";
import type { Server } from "../model/server";
import { type EditorContext, contextOf, protocolRange } from "../turns/editorContext";
import { lastFileEditor } from "../window/lastFileEditor";
import { relativeName } from "../window/files";
import { checkAttached, fileOfDropped, imageType, type Attached, type PromptContext } from "./attached";
import type { AttachmentRow, ToPage } from "./messages";
import { seesImages } from "./modelSight";
import { errorMessage } from "../window/notify";

export class Attachments implements Disposable {
  private attached: readonly Attached[] = [];
  private count = 0;
  private removed: string | undefined; // the file that the user does not want to be sent
  private warning = "";
  private shownPlace: string | undefined;
  private readonly disposables: readonly Disposable[];

  constructor(
    private readonly server: Server,
    private readonly shownAt: Place,
    private readonly post: (message: ToPage) => void,
  ) {
    this.disposables = [
      vscode.window.onDidChangeActiveTextEditor(() => {
        if (lastFileEditor()?.document.uri.toString() !== this.removed) {
          this.removed = undefined;
        }
        this.placeChanged();
      }),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => textEditor === lastFileEditor() && this.placeChanged()),
      server.state.on("session", () => void this.checkModel()),
    ];
  }

  /** Everything that is sent with the prompt now. Removes the attachments, so that they are sent once. */
  take(): PromptContext {
    const place = this.place();
    const { attached } = this;
    if (attached.length > 0) {
      this.set([]);
    }
    return { ...(place && { textDocument: place.textDocument, ...(place.description !== "" && place.range && { range: protocolRange(place.range) }) }), attached };
  }

  /** Restores the attachments of a prompt that was not accepted. */
  restore(attached: readonly Attached[]): void {
    this.set([...attached, ...this.attached]);
  }

  remove(id: string): void {
    if (id === "place") {
      this.removed = this.place()?.textDocument?.uri;
    }
    this.set(this.attached.filter((each) => each.id !== id));
  }

  /** Attaches what the user chooses in a dialog. */
  async choose(): Promise<void> {
    const chosen = await vscode.window.showOpenDialog({ canSelectMany: true, canSelectFolders: false, title: "Attach Files or Images", openLabel: "Attach" });
    await this.addUris((chosen ?? []).map(String));
  }

  /** Attaches files that were dropped, which have the URIs of the window: `vscode-remote:` for files on this side. */
  async addUris(uris: readonly string[]): Promise<void> {
    for (const uri of uris) {
      const file = fileOfDropped(uri);
      await this.report(file === undefined ? Promise.reject(new Error(`${uri.slice(0, 100)} is not a file, so it cannot be attached`)) : this.addFile(vscode.Uri.parse(file)));
    }
  }

  /** Attaches a file that the page has read: it was pasted, or dropped from another program. */
  async addData({ name, mimeType, data, size }: { name: string; mimeType: string; data: string; size: number }): Promise<void> {
    const type = mimeType === "" ? {} : { mimeType };
    await this.report(
      Promise.resolve().then(() => {
        checkAttached({ name, ...type, size });
        this.add({ name, ...type, data });
      }),
    );
  }

  /** Posts everything to the page. */
  show(): void {
    const place = this.place();
    this.shownPlace = placeKey(place);
    const rows: AttachmentRow[] = this.attached.map(({ id, name, mimeType, data }) => ({ id, name, ...(mimeType && data && { thumbnail: `data:${mimeType};base64,${data}` }) }));
    const here: AttachmentRow[] = place?.textDocument ? [{ id: "place", name: relativeName(place.textDocument.uri), ...(place.description !== "" && { lines: place.description.replace(/ of .*$/, "") }) }] : [];
    this.post({ kind: "attachments", items: [...here, ...rows], warning: this.warning });
  }

  dispose(): void {
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  /** The cursor moves often, and mostly without a selection. */
  private placeChanged(): void {
    if (placeKey(this.place()) !== this.shownPlace) {
      this.show();
    }
  }

  private place(): EditorContext | undefined {
    const editor = lastFileEditor();
    return editor === undefined || editor.document.uri.toString() === this.removed ? undefined : contextOf(editor.document, editor.selection);
  }

  private async addFile(uri: vscode.Uri): Promise<void> {
    const folders = vscode.workspace.workspaceFolders ?? [];
    const name = relativeName(uri.toString());
    const stat = await vscode.workspace.fs.stat(uri);
    if (stat.type & vscode.FileType.Directory) {
      this.post({ kind: "mention", text: /\s/.test(name) ? `@dir:"${name}"` : `@dir:${name}` });
      return;
    }
    const mimeType = imageType(uri.path);
    if (mimeType === undefined) {
      if (folders.length > 0 && vscode.workspace.getWorkspaceFolder(uri) === undefined) {
        throw new Error(`${name} is outside the workspace, so Tark may not read it: paste its text instead`);
      }
      checkAttached({ name, size: stat.size, isFile: true });
      this.add({ name, uri: uri.toString() });
    } else {
      checkAttached({ name, mimeType, size: stat.size });
      const bytes = await vscode.workspace.fs.readFile(uri);
      this.add({ name: name.split("/").at(-1) ?? name, mimeType, data: Buffer.from(bytes).toString("base64") });
    }
  }

  private add(one: Omit<Attached, "id">): void {
    if (one.uri === undefined || !this.attached.some(({ uri }) => uri === one.uri)) {
      this.count += 1;
      this.set([...this.attached, { ...one, id: String(this.count) }]);
    }
  }

  private set(attached: readonly Attached[]): void {
    this.attached = attached;
    this.show();
    void this.checkModel();
  }

  /** Warns before the prompt is sent that the model does not see its images. */
  private async checkModel(): Promise<void> {
    const { state } = this.server;
    const model = state.sessions.get(this.shownAt.sessionId ?? "")?.model ?? state.settings?.model ?? "";
    const hasImages = this.attached.some(({ mimeType }) => mimeType !== undefined);
    const blind = hasImages && (await seesImages(this.server, model)) === false;
    const warning = blind ? `${model} does not see images. Choose another model, or the images are left out.` : "";
    if (warning !== this.warning) {
      this.warning = warning;
      this.show();
    }
  }

  private async report(work: Promise<void>): Promise<void> {
    await work.catch((problem: unknown) => this.post({ kind: "say", words: `Not attached: ${errorMessage(problem)}.` }));
  }
}

/** Two places with the same key look the same. */
function placeKey(place: EditorContext | undefined): string | undefined {
  return place && `${place.textDocument?.uri} ${place.description}`;
}
