/** The model picker. It opens at once. Model lists and problems become rows as they arrive. */

import * as vscode from "vscode";
import type { Server } from "../model/server";
import { errorMessage } from "../window/notify";
import { type Action, type Model, pickerGroups, type PickerState } from "./modelRows";

interface Provider {
  readonly provider: string;
  /** `missing`: it has no key. `unneeded`: a local server, which needs none. */
  readonly status: string;
}

type Found = Pick<PickerState, "providers" | "models" | "problems" | "loading">;
const NOTHING: Found = { models: [], problems: [], loading: [] };

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
  private found = NOTHING;
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

  /** Asks each provider separately, so that a slow one does not delay the others. */
  private load(refresh: boolean): void {
    this.attempt += 1;
    const { attempt } = this;
    const show = (found: Partial<Found>): void => {
      if (!this.closed && attempt === this.attempt) {
        this.found = { ...this.found, ...found };
        this.box.busy = this.found.providers === undefined ? this.found.problems.length === 0 : this.found.loading.length > 0;
        this.draw();
      }
    };
    const list = async ({ provider, status }: Provider): Promise<void> => {
      const others = (): readonly string[] => this.found.loading.filter((name) => name !== provider);
      try {
        const { models } = await this.server.executeCommand<{ models: readonly Model[] }>("tark.models.list", { provider, refresh });
        show({ models: [...this.found.models, ...models], loading: others() });
      } catch (problem) {
        const isQuiet = status === "unneeded" && !this.current().startsWith(`${provider}/`) && !isConfigured(provider);
        show({ problems: [...this.found.problems, { provider, why: errorMessage(problem), isQuiet }], loading: others() });
      }
    };
    this.found = NOTHING;
    show({});
    this.server.executeCommand<{ providers: readonly Provider[] }>("tark.auth.status").then(
      ({ providers }) => {
        const usable = providers.filter(({ status }) => status !== "missing");
        show({ providers: providers.map(({ provider }) => provider), loading: usable.map(({ provider }) => provider) });
        return Promise.all(usable.map(list));
      },
      (problem: unknown) => show({ problems: [{ why: errorMessage(problem) }] }),
    );
  }

  /** Keeps the active row if it is still there. At first, the active row is the current model. */
  private draw(): void {
    const [active] = this.box.activeItems;
    const current = this.current();
    const groups = pickerGroups({ ...this.found, typed: this.box.value, current });
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

function isConfigured(provider: string): boolean {
  return provider in vscode.workspace.getConfiguration("tark").get<object>("providers", {});
}
