/** Typed events, without VS Code's, so that what is pure can tell of changes. */

export interface Disposable {
  dispose(): void;
}

export class Events<Told extends object> {
  private readonly listeners = new Map<keyof Told, Set<(told: never) => void>>();

  /** `failed` is told of a listener that throws: it keeps no other from hearing of the event. */
  constructor(private readonly failed: (problem: unknown) => void = () => undefined) {}

  on<Name extends keyof Told>(name: Name, listener: (told: Told[Name]) => void): Disposable {
    const own = (told: Told[Name]): void => listener(told); // the same function may listen twice
    const of = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, of.add(own));
    return { dispose: () => of.delete(own) };
  }

  emit<Name extends keyof Told>(name: Name, told: Told[Name]): void {
    for (const listener of [...(this.listeners.get(name) ?? [])] as ((told: Told[Name]) => void)[]) {
      try {
        listener(told);
      } catch (problem) {
        this.failed(problem);
      }
    }
  }
}
