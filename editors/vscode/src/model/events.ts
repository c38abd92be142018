/** Typed events that do not depend on VS Code, so that pure modules can use them. */

export interface Disposable {
  dispose(): void;
}

export class Events<EventMap extends object> {
  private readonly listeners = new Map<keyof EventMap, Set<(event: never) => void>>();

  /** `failed` receives the error of a listener that throws. The other listeners are still called. */
  constructor(private readonly failed: (problem: unknown) => void = () => undefined) {}

  on<Name extends keyof EventMap>(name: Name, listener: (event: EventMap[Name]) => void): Disposable {
    const own = (event: EventMap[Name]): void => listener(event); // the same function can listen twice
    const listeners = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, listeners.add(own));
    return { dispose: () => listeners.delete(own) };
  }

  emit<Name extends keyof EventMap>(name: Name, event: EventMap[Name]): void {
    for (const listener of [...(this.listeners.get(name) ?? [])] as ((event: EventMap[Name]) => void)[]) {
      try {
        listener(event);
      } catch (problem) {
        this.failed(problem);
      }
    }
  }
}
