/** The model picker. It opens at once; lists, and problems with them, become rows as they arrive. */

import * as vscode from "vscode";
import type { Server } from "../model/server";
import { errorMessage } from "../window/notify";
import { type Action, type Model, pickerGroups, type PickerState } from "./modelRows";

interface ModelList {
  readonly models: readonly Model[];
  readonly problems: readonly string[];
}

interface Item extends vscode.QuickPickItem {
  readonly action?: Action;
}

const REFRESH: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("refresh"), tooltip: "Refresh Models" };

/** Resolves with `provider/model`. Undefined: nothing was chosen, or the user sets up a provider. */
export function pickModel(server: Server, title: string, current: () => string): Promise<string | undefined> {
  return new ModelPicker(server, title, current).chosen;
}

class ModelPicker {
  readonly chosen: Promise<string | undefined>;
  private readonly box = vscode.window.createQuickPick<Item>();
  private found: Pick<PickerState, "providers" | "models" | "problems"> = { models: [], problems: [] };
  private attempt = 0;
  private closed = false;

  constructor(
    private readonly server: Server,
    title: string,
    private readonly current: () => string,
  ) {
    this.box.title = title;
    this.box.placeholder = "Select a model, or type its name as provider/model";
    this.box.matchOnDetail = true;
    this.box.buttons = [REFRESH];
    this.box.onDidChangeValue(() => this.draw());
    this.box.onDidTriggerButton(() => this.load(true));
    this.chosen = new Promise((resolve) => {
      this.box.onDidAccept(() => {
        const [item] = this.box.activeItems;
        const id = this.accept(item?.action ?? { kind: "none" });
        if (id !== undefined) {
          resolve(id);
          this.box.hide();
        }
      });
      this.box.onDidHide(() => {
        this.closed = true;
        resolve(undefined);
        this.box.dispose();
      });
    });
    this.load(false);
    this.box.show();
  }

  private accept(action: Action): string | undefined {
    if (action.kind === "retry") {
      this.load(true);
    } else if (action.kind === "setUp") {
      this.box.hide();
      void vscode.commands.executeCommand("tark.client.login");
    }
    return action.kind === "use" ? action.id : undefined;
  }

  private load(refresh: boolean): void {
    this.attempt += 1;
    const { attempt } = this;
    const isLatest = (): boolean => !this.closed && attempt === this.attempt;
    this.box.busy = true;
    this.found = { ...this.found, problems: [] };
    this.draw();
    const show = (found: Partial<typeof this.found>): void => {
      if (isLatest()) {
        this.found = { ...this.found, ...found };
        this.draw();
      }
    };
    const names = this.server.executeCommand<{ providers: readonly { provider: string }[] }>("tark.auth.status").then(
      ({ providers }) => show({ providers: providers.map(({ provider }) => provider) }),
      () => undefined, // then no provider is refused; the other command reports the problem
    );
    const lists = this.server.executeCommand<ModelList>("tark.models.list", refresh ? { refresh } : {}).then(
      ({ models, problems }) => show({ models, problems }),
      (problem: unknown) => show({ models: [], problems: [errorMessage(problem)] }),
    );
    void Promise.all([names, lists]).then(() => {
      if (isLatest()) {
        this.box.busy = false;
        this.draw();
      }
    });
  }

  /** Keeps the active row, if it is still there. At first it is the current model. */
  private draw(): void {
    const [active] = this.box.activeItems;
    const current = this.current();
    const groups = pickerGroups({ ...this.found, typed: this.box.value, current, loading: this.box.busy });
    const items = groups.flatMap(({ title, rows }): Item[] => [
      { label: title, kind: vscode.QuickPickItemKind.Separator },
      ...rows.map(({ always, ...row }): Item => ({ ...row, ...(always === true && { alwaysShow: true }) })),
    ]);
    this.box.items = items;
    if (this.box.value === "") {
      const wanted = items.find(({ action, label }) => (active?.action?.kind === "use" ? active.label === label : action?.kind === "use" && action.id === current));
      if (wanted !== undefined) {
        this.box.activeItems = [wanted];
      }
    }
  }
}
