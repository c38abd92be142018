/** The rows of the model picker: models by provider, the typed name as a model, and problems. Pure. */

import type { Optional } from "../model/protocol";
import { joinParts, shortNumber } from "../text/figures";
import { listRow } from "../text/surfaces";

/** A model as `tark.models.list` describes it. */
export interface Model {
  readonly id: string;
  readonly name?: Optional<string>;
  readonly contextWindow?: Optional<number>;
  readonly price?: Optional<{ readonly input?: Optional<number>; readonly output?: Optional<number> }>;
  readonly tools?: Optional<boolean>;
  readonly images?: Optional<boolean>;
  readonly thinking?: Optional<boolean>;
}

export interface PickerState {
  readonly typed: string;
  readonly current: string;
  /** The names of all providers. Undefined: not known yet. */
  readonly providers?: readonly string[] | undefined;
  readonly models: readonly Model[];
  readonly problems: readonly Problem[];
  /** The providers whose models are being listed; also before they are known. */
  readonly loading: readonly string[];
}

export interface Problem {
  /** Undefined: the providers themselves could not be listed. */
  readonly provider?: string;
  readonly why: string;
  /** A local server that nobody set up, so it is not a problem if it does not run. */
  readonly isQuiet?: boolean;
}

/** What the row does: `use` takes the model, `retry` reads the lists again, `none` only says something. */
export type Action = { readonly kind: "use"; readonly id: string } | { readonly kind: "retry" | "setUp" | "none" };

export interface Row {
  readonly label: string;
  readonly description?: string;
  readonly detail?: string;
  readonly action: Action;
  /** The row is visible whatever is typed. */
  readonly always?: boolean;
}

export interface Group {
  readonly title: string;
  readonly rows: readonly Row[];
}

const MOST_NEAR = 3;

export function pickerGroups(state: PickerState): Group[] {
  const typed = typedGroup(state);
  const near = new Set(typed.rows.flatMap(({ action }) => (action.kind === "use" ? [action.id] : [])));
  const isListed = state.current === "" || state.models.some(({ id }) => id === state.current);
  const models = isListed ? state.models : [{ id: state.current }, ...state.models];
  const groups: Group[] = [
    typed,
    ...[...new Set(models.map(providerOf))].map((provider) => ({
      title: listRow(provider),
      rows: models.filter((model) => providerOf(model) === provider && !near.has(model.id)).map((model) => modelRow(model, state.current)),
    })),
    { title: "providers", rows: providerRows(state) },
  ];
  return groups.filter(({ rows }) => rows.length > 0);
}

/** `400k window · $1.25 in, $10 out per 1M tokens · thinking, images` */
export function modelFacts({ id, name, contextWindow, price, tools, images, thinking }: Model): string {
  const { input, output } = price ?? {};
  const abilities = [thinking === true && "thinking", images === true && "images", tools === false && "no native tools"];
  return joinParts(
    name && name !== id && !id.endsWith(`/${name}`) && listRow(name),
    contextWindow != null && `${shortNumber(contextWindow)} window`,
    input != null && output != null && (input + output === 0 ? "no cost" : `$${input} in, $${output} out per 1M tokens`),
    abilities.filter(Boolean).join(", "),
  );
}

function modelRow(model: Model, current: string, always = false): Row {
  return {
    label: listRow(model.id),
    ...(model.id === current && { description: "$(check) current" }),
    detail: modelFacts(model),
    action: { kind: "use", id: model.id },
    ...(always && { always }),
  };
}

/** The typed text as a model, if it can be a model and no list has it. */
function typedGroup({ typed, current, providers, models, problems, loading }: PickerState): Group {
  const wanted = typed.trim();
  const [, provider = ""] = /^([^/\s]+)\/\S+$/.exec(wanted) ?? [];
  const title = "name as typed";
  if (provider === "" || models.some(({ id }) => id === wanted)) {
    return { title, rows: [] };
  }
  if (providers !== undefined && !providers.includes(provider) && provider !== providerOf({ id: current })) {
    const label = `$(error) There is no provider “${listRow(provider)}”`;
    return { title, rows: [{ label, detail: listRow(`The providers are ${providers.join(", ")}`), action: { kind: "none" }, always: true }] };
  }
  const list = models.filter((model) => providerOf(model) === provider);
  const use = { action: { kind: "use", id: wanted }, always: true } as const;
  if (list.length === 0) {
    const reason = problems.find((problem) => problem.provider === provider)?.why;
    const isLoading = loading.includes(provider) || providers === undefined;
    const why = isLoading ? "is still being listed" : `is not listed${reason === undefined ? "" : `: ${reason}`}`;
    return { title, rows: [{ label: listRow(`Use ${wanted}`), detail: listRow(`The name is not checked; ${provider} ${why}`), ...use }] };
  }
  const near = nearModels(wanted, list).map((model) => modelRow(model, current, true));
  // Without the name in its label, which VS Code would sort before the similar names.
  const anyway = { label: "Use Anyway", description: listRow(wanted), detail: listRow(`${provider} does not list this model`), ...use };
  return { title: near.length > 0 ? "similar names" : title, rows: [...near, anyway] };
}

function providerRows({ problems, models, loading, providers }: PickerState): Row[] {
  const seen = problems.filter(({ isQuiet }) => isQuiet !== true);
  const rows: Row[] = seen.map(({ provider, why }) => {
    const label = `$(warning) ${provider === undefined ? "The models" : listRow(provider)} could not be listed`;
    return { label, description: "try again", detail: listRow(why), action: { kind: "retry" }, always: true };
  });
  if (loading.length > 0 || (providers === undefined && seen.length === 0)) {
    rows.push({ label: "$(loading~spin) Loading models…", ...(loading.length > 0 && { description: listRow(loading.join(", ")) }), action: { kind: "none" }, always: true });
  } else if (models.length === 0 && seen.length === 0) {
    rows.push({ label: "$(info) No provider lists a model", detail: "Set up a provider, or type the name of a model as provider/model", action: { kind: "none" }, always: true });
  }
  rows.push({ label: "$(add) Set Up Another Provider…", action: { kind: "setUp" }, always: true });
  return rows;
}

function providerOf({ id }: Model): string {
  return id.slice(0, id.indexOf("/"));
}

/** The models whose names differ least from the typed one. */
export function nearModels(typed: string, models: readonly Model[]): Model[] {
  const wanted = typed.toLowerCase();
  const most = Math.max(2, Math.floor((wanted.length - wanted.indexOf("/")) / 3));
  return models
    .map((model) => ({ model, far: distance(wanted, model.id.toLowerCase()) }))
    .filter(({ far }) => far <= most)
    .sort((one, other) => one.far - other.far)
    .slice(0, MOST_NEAR)
    .map(({ model }) => model);
}

/** How many characters must be inserted, deleted or replaced. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let at = 1; at <= one.length; at += 1) {
    const next = [at];
    for (let to = 1; to <= other.length; to += 1) {
      const replaced = row[to - 1]! + (one[at - 1] === other[to - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[to]! + 1, next[to - 1]! + 1));
    }
    row = next;
  }
  return row[other.length]!;
}
