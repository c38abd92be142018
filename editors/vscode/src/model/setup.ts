/** What the chat shows while something has to be set up. Only types, which the page of the chat uses, too. */

export interface SetupOffer {
  readonly id: string;
  readonly label: string;
  readonly note?: string;
  /** It only explains something. */
  readonly isLink?: boolean;
}

export interface SetupView {
  readonly title: string;
  readonly words: string;
  /** There is no server, so nothing works. */
  readonly isProblem: boolean;
  /** What happened last, such as a refused key. `details`: in the words of the server. */
  readonly said?: { readonly words: string; readonly details: string };
  /** What is going on: meanwhile nothing can be chosen. */
  readonly busy?: string;
  /** The first is the main button. */
  readonly offers: readonly SetupOffer[];
}
