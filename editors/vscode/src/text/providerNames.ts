/** The names of providers as users know them. */

const NAMES: Readonly<Record<string, string>> = {
  anthropic: "Anthropic",
  chutes: "Chutes",
  copilot: "GitHub Copilot",
  deepseek: "DeepSeek",
  gemini: "Gemini",
  groq: "Groq",
  llamacpp: "llama.cpp",
  lmstudio: "LM Studio",
  mistral: "Mistral",
  ollama: "Ollama",
  openai: "OpenAI",
  openrouter: "OpenRouter",
  together: "Together",
  vllm: "vLLM",
  xai: "xAI",
};

/** A provider of the user's own settings keeps its name. */
export function providerName(provider: string): string {
  return NAMES[provider] ?? provider;
}
