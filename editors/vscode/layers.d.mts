export const LAYERS: readonly string[];
export function forbiddenImport(from: string, to: string): string | undefined;
export function importGraph(folder: string): Map<string, string[]>;
export function importCycles(graph: ReadonlyMap<string, readonly string[]>): string[][];
