"""Any server that supports one of Tark's wires, under a name that the settings define (wire, baseUrl, apiKeyEnv)."""

from tark_lsp.llm.provider import Provider, Route

PROVIDER = Provider(
    name="compatible",
    base_url="",
    routes=(Route("*", "openai-chat"),),
    key_needed=False,
    preferred=("*",),
    offline_hint="start the server, or set the baseUrl of this provider",
)
