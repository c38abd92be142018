/** What the chat shows while something has to be set up. Only types, which the page of the chat uses, too. */

export interface SetupOffer {
  readonly id: string;
  readonly label: string;
  readonly note?: string;
  /** The offer only explains something. */
  readonly isLink?: boolean;
}

export interface SetupView {
  readonly title: string;
  readonly words: string;
  /** No server runs, so nothing works. */
  readonly isProblem: boolean;
  /** What happened last, such as a refused key. `details`: the message of the server. */
  readonly said?: { readonly words: string; readonly details: string };
  /** What is in progress. Until it ends, nothing can be chosen. */
  readonly busy?: string;
  /** The first is the main button. */
  readonly offers: readonly SetupOffer[];
}
