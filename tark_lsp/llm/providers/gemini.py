"""Google's Gemini API, on its own wire; the key comes from AI Studio."""

from tark_lsp.llm.provider import Provider, Route

PROVIDER = Provider(
    name="gemini",
    base_url="https://generativelanguage.googleapis.com",
    routes=(Route("*", "gemini-content"),),
    key_env=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    preferred=(
        "gemini-[4-9]*",
        "gemini-[3-9]*-pro",
        "gemini-[3-9]*-pro-preview",
        "gemini-[3-9]*-flash",
        "gemini-[3-9]*-flash-preview",
        "gemini-2.5-pro",
        "gemini-2.5-flash",
    ),
)
