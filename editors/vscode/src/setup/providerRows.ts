/** The rows of the lists of providers: common providers first, providers that need no key last. Pure. */

import { joinParts } from "../text/figures";
import { providerName } from "../text/providerNames";
import { listRow } from "../text/surfaces";
import { type ProviderStatus, rank } from "./offers";

const STATUS: Readonly<Record<string, string>> = {
  ready: "has a key",
  pending: "waiting for the login",
  missing: "", // as most of them; the list is there to set one
  unneeded: "no key needed",
  unusable: "key cannot be used",
};

export interface ProviderRow {
  readonly label: string;
  readonly description: string;
  readonly detail?: string;
  readonly status: ProviderStatus;
}

/** In the order of the setup card, then by name. */
export function providerRows(providers: readonly ProviderStatus[]): ProviderRow[] {
  const last = ({ status }: ProviderStatus): number => Number(status === "unneeded");
  const sorted = [...providers].sort(
    (one, other) => last(one) - last(other) || rank(one) - rank(other) || providerName(one.provider).localeCompare(providerName(other.provider)),
  );
  return sorted.map(providerRow);
}

/** Can the provider get a key? A local server can have no variable for one. */
export function takesKey({ status, variables = [] }: ProviderStatus): boolean {
  return status !== "unneeded" || variables.length > 0;
}

/** The server's hint is shown only for a key that cannot be used, because other hints cannot be followed here. */
function providerRow(status: ProviderStatus): ProviderRow {
  const { provider, status: word, source, hint } = status;
  return {
    label: listRow(providerName(provider)),
    description: listRow(joinParts(STATUS[word] ?? word, source)),
    ...(word === "unusable" && hint && { detail: listRow(hint) }),
    status,
  };
}
