r"""The shapes of vendors' keys and tokens: one table for logs, which remove them, and notes, which refuse them.

The prefixes are those that the vendors publish (https://docs.github.com/code-security/secret-scanning, gitleaks'
rules), and those of the providers that we ship. Prefix and length distinguish a key from ordinary words.
"""

import re
from collections.abc import Mapping

KEY_SHAPES: Mapping[str, str] = {
    "sk- of many vendors": r"sk-(?:ant-|or-|proj-|svcacct-)?[\w-]{16,}",
    "Stripe and the like": r"(?:[spr]k_(?:live|test|prod)_\w{10,}|whsec_\w{16,})",
    "Perplexity, NVIDIA, Cerebras": r"(?:pplx|nvapi|csk)-[\w-]{24,}",
    "Chutes, Together, Fireworks": r"(?:cpk|tgp|fw)_[\w.-]{20,}",
    "xAI": r"xai-\w{30,}",
    "Groq, Hugging Face, Replicate": r"(?:gsk|hf|r8|api_org)_\w{30,}",
    "GitHub": r"(?:gh[opusr]_\w{30,}|github_pat_\w{30,})",
    "GitLab": r"gl(?:pat|ptt|rt|soat|dt|ft|cbt|imt|agent|oas)-[\w.-]{16,}",
    "AWS": r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{12,}",
    "Google": r"(?:AIza[\w-]{30,}|ya29\.[\w-]{16,}|GOCSPX-[\w-]{20,})",
    "Slack": r"(?:xox[abeoprs]-[\w-]{8,}|xapp-\d-[\w-]{8,})",
    "npm, PyPI, RubyGems": r"(?:npm_\w{30,}|pypi-[\w-]{40,}|rubygems_\w{40,})",
    "DigitalOcean": r"do[opr]_v1_\w{30,}",
    "Shopify": r"shp(?:at|ca|pa|ss)_\w{30,}",
    "Linear, Figma, Netlify": r"(?:lin_api|figd|nfp)_[\w-]{20,}",
    "SendGrid": r"SG\.[\w-]{16,}\.[\w-]{16,}",
    "Mailgun": r"key-[0-9a-f]{32}",
    "Square": r"(?:sq0(?:atp|csp)-[\w-]{20,}|EAAA[\w-]{50,})",
    "Doppler, Dynatrace, Dropbox": r"(?:dp\.(?:pt|st|ct|sa)\.\w{30,}|dt0c01\.\w{20,}|sl\.[\w=-]{40,})",
    "HashiCorp": r"(?:hv[bs]\.[\w-]{20,}|atlasv1\.[\w=-]{20,})",
    "Pulumi, Databricks": r"(?:pul-[0-9a-f]{40}|dapi[0-9a-f]{32})",
    "Grafana": r"(?:glsa_\w{30,}|glc_[\w+/=]{30,})",
    "New Relic, Postman": r"(?:NRAK|PMAK)-[\w-]{20,}",
    "age": r"AGE-SECRET-KEY-1\w{20,}",
    "Alibaba": r"LTAI\w{16,}",
    "Sourcegraph, Brevo, Flutterwave": r"(?:sm_[aps]at_\w{10,}|xkeysib-[0-9a-f]{30,}|FLWSECK\w*-\w{8,})",
    "PlanetScale, Duffel, Typeform": r"(?:pscale_[a-z]+_[\w.=-]{8,}|duffel_(?:live|test)_[\w=-]{20,}|tfp_[\w.=-]{20,})",
    "Atlassian": r"AT(?:ATT|CTT)3[\w=-]{20,}",
    "Sentry": r"sntry[su]_[\w+/=.]{30,}",
    "a JSON web token": r"ey[A-Za-z0-9_-]{10,}\.ey[A-Za-z0-9_-]{10,}(?:\.[\w-]*){0,4}",
}

KEY_PATTERN = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(KEY_SHAPES.values())})", re.ASCII)

LETTER_DIGIT_SWITCH = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
"""A switch from letter to digit or back. Random text has many; names that a person chose have few."""
