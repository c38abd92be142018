/** API keys: kept in VS Code's SecretStorage, by the name of the variable in which the server gets each. */

import type * as vscode from "vscode";

const PREFIX = "tark.key.";
const NAMES = "tark.keys"; // the storage does not say what it holds

/** Where shipped providers look for their key (docs/providers.md). One's own provider names its own: `apiKeyEnv`. */
const VARIABLES: Readonly<Record<string, string>> = {
  anthropic: "ANTHROPIC_API_KEY",
  openai: "OPENAI_API_KEY",
  gemini: "GEMINI_API_KEY",
  copilot: "COPILOT_GITHUB_TOKEN",
  openrouter: "OPENROUTER_API_KEY",
  ollama: "OLLAMA_API_KEY",
  groq: "GROQ_API_KEY",
  deepseek: "DEEPSEEK_API_KEY",
  mistral: "MISTRAL_API_KEY",
  xai: "XAI_API_KEY",
  together: "TOGETHER_API_KEY",
  chutes: "CHUTES_API_KEY",
  llamacpp: "LLAMA_API_KEY",
  vllm: "VLLM_API_KEY",
  lmstudio: "LM_API_TOKEN",
};

export class Secrets {
  constructor(private readonly context: Pick<vscode.ExtensionContext, "secrets" | "globalState">) {}

  /** What is added to the environment of the server. */
  async environment(): Promise<Record<string, string>> {
    const found = await Promise.all(
      this.names().map(async (name) => [name, await this.context.secrets.get(PREFIX + name)] as const),
    );
    return Object.fromEntries(found.filter((each): each is readonly [string, string] => each[1] !== undefined));
  }

  names(): readonly string[] {
    return this.context.globalState.get<readonly string[]>(NAMES, []);
  }

  async store(variable: string, key: string): Promise<void> {
    await this.context.secrets.store(PREFIX + variable, key);
    await this.context.globalState.update(NAMES, [...new Set([...this.names(), variable])]);
  }

  async remove(variable: string): Promise<void> {
    await this.context.secrets.delete(PREFIX + variable);
    await this.context.globalState.update(
      NAMES,
      this.names().filter((name) => name !== variable),
    );
  }
}

/** The variable of a provider's key; undefined: it has none that we know of. `providers`: the setting. */
export function variableOf(provider: string, providers: unknown): string | undefined {
  const own = (providers as Record<string, { apiKeyEnv?: unknown } | undefined> | undefined)?.[provider]?.apiKeyEnv;
  return typeof own === "string" && /^[A-Za-z_]\w*$/.test(own) ? own : VARIABLES[provider];
}
