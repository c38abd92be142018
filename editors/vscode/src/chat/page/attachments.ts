/** The row above the prompt: the current file, attached files and images. Takes what is dropped and pasted. */

import { chatLine } from "../../text/surfaces";
import type { AttachmentRow } from "../messages";
import { button, h, setText } from "./element";
import type { Page } from "./page";

const LARGEST = 20_000_000; // bytes that the page reads; the extension says what is too large
const LISTS = ["application/vnd.code.uri-list", "resourceurls", "text/uri-list"]; // formats of dragged files, the best first

export class AttachmentsPart {
  readonly element = h("ul", { class: "attachments", "aria-label": "Sent with the prompt", hidden: true });
  readonly warning = h("p", { class: "warning", role: "status", hidden: true });
  readonly dropArea = h("div", { class: "drop", "aria-hidden": "true", hidden: true }, "Drop to attach. Hold Shift if you drag from VS Code.");
  readonly attachButton: HTMLButtonElement;
  private items: readonly AttachmentRow[] = [];

  constructor(
    private readonly page: Page,
    private readonly focus: () => void,
  ) {
    this.attachButton = button("+", () => page.post({ kind: "attach" }), {
      class: "attach",
      "aria-label": "Attach files or images",
      title: "Attach files or images. You can also paste them, or drag them here with Shift held down.",
    });
    this.listen();
  }

  /** Is anything attached besides the current file? The current file alone does not require a separate prompt. */
  get hasFiles(): boolean {
    return this.items.some(({ id }) => id !== "place");
  }

  show(items: readonly AttachmentRow[], warning: string): void {
    const focused = document.activeElement !== null && this.element.contains(document.activeElement);
    this.items = items;
    this.element.hidden = items.length === 0;
    this.element.replaceChildren(...items.map((item) => this.chip(item)));
    this.warning.hidden = warning === "";
    setText(this.warning, chatLine(warning));
    if (focused) {
      this.focus(); // the button that was pressed is gone
    }
  }

  /** Attaches pasted files. Text is pasted as usual. */
  paste(event: ClipboardEvent): void {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length > 0) {
      event.preventDefault();
      this.read(files);
    }
  }

  private chip(item: AttachmentRow): HTMLElement {
    const name = chatLine(item.name.split("/").at(-1) ?? item.name);
    const words = item.lines === undefined ? name : `${name}, ${item.lines}`;
    const remove = button("×", () => this.page.post({ kind: "detach", id: item.id }), { "aria-label": `Do not send ${words}`, title: "Do not send" });
    const picture = item.thumbnail === undefined ? [] : [h("img", { src: item.thumbnail, alt: "" })];
    return h("li", { title: chatLine(item.name), class: item.id === "place" ? "place" : undefined }, ...picture, h("span", {}, words), remove);
  }

  private listen(): void {
    const over = (event: DragEvent): void => {
      if (event.dataTransfer?.types.some((type) => type === "Files" || LISTS.includes(type.toLowerCase())) === true) {
        event.preventDefault(); // or the drop is refused
        this.dropArea.hidden = false;
      }
    };
    document.addEventListener("dragenter", over);
    document.addEventListener("dragover", over);
    document.addEventListener("dragleave", (event) => {
      this.dropArea.hidden = event.relatedTarget === null || this.dropArea.hidden;
    });
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      this.dropArea.hidden = true;
      const uris = droppedUris((format) => event.dataTransfer?.getData(format) ?? "");
      if (uris.length > 0) {
        this.page.post({ kind: "attachUris", uris });
      } else {
        this.read([...(event.dataTransfer?.files ?? [])]);
      }
    });
  }

  private read(files: readonly File[]): void {
    for (const file of files) {
      const { name, type, size } = file;
      const isImage = type.startsWith("image/");
      if (size > LARGEST) {
        this.page.post({ kind: "attachData", name, mimeType: isImage ? type : "", data: "", size });
        continue;
      }
      const reader = new FileReader();
      reader.onload = () => {
        const read = reader.result as string; // both ways of reading give text
        this.page.post({ kind: "attachData", name, mimeType: isImage ? type : "", data: isImage ? read.slice(read.indexOf(",") + 1) : read, size });
      };
      if (isImage) {
        reader.readAsDataURL(file);
      } else {
        reader.readAsText(file);
      }
    }
  }
}

/** The URIs of dragged files. `read` returns the dragged data in a format. */
export function droppedUris(read: (format: string) => string): string[] {
  for (const format of LISTS) {
    const data = read(format);
    const listed = format === "resourceurls" ? asList(data) : data.split(/\r?\n/);
    const uris = listed.map((uri) => uri.trim()).filter((uri) => uri !== "" && !uri.startsWith("#"));
    if (uris.length > 0) {
      return uris;
    }
  }
  return [];
}

function asList(data: string): string[] {
  try {
    const list: unknown = JSON.parse(data);
    return Array.isArray(list) ? list.filter((uri): uri is string => typeof uri === "string") : [];
  } catch {
    return [];
  }
}
