"""Any server that speaks one of our wires, under any name the settings give it (`{wire, baseUrl, apiKeyEnv}`)."""

from tark_lsp.llm.provider import Provider, Route

PROVIDER = Provider(
    name="compatible",
    base_url="",
    routes=(Route("*", "openai-chat"),),
    key_needed=False,
    preferred=("*",),
    offline_hint="start the server, or set baseUrl of this provider",
)
