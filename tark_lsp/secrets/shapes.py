r"""The patterns of secrets, in one table. Tool results and prompts mask secrets, logs remove them, notes refuse them.

The prefixes are those that vendors publish (https://docs.github.com/code-security/secret-scanning, gitleaks' rules),
and those of Tark's providers. Prefix and length distinguish a key from ordinary words.
"""

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Shape:
    """`kind`: a part of the token that replaces the secret, lower-case words with `-`. `of`: the vendor of the keys.

    `pattern`: matches the whole key. It begins with the recognisable part, which has at most `LONGEST_BEGINNING`
    characters before 16 letters, digits, `_`, `-`, `+` or `/`.
    """

    kind: str
    of: str
    pattern: str


LONGEST_BEGINNING = 24

SHAPES = (
    Shape("api-key", "many vendors (Anthropic, OpenAI, DeepSeek)", r"sk-[\w-]{16,}"),
    Shape("stripe-key", "Stripe and the like", r"[spr]k_(?:live|test|prod)_\w{10,}"),
    Shape("stripe-key", "Stripe webhooks", r"whsec_\w{16,}"),
    Shape("api-key", "Perplexity, NVIDIA, Cerebras", r"(?:pplx|nvapi|csk)-[\w-]{24,}"),
    Shape("api-key", "Chutes, Together, Fireworks", r"(?:cpk|tgp|fw)_[\w.-]{20,}"),
    Shape("api-key", "xAI", r"xai-\w{30,}"),
    Shape("api-key", "Groq, Hugging Face, Replicate", r"(?:gsk|hf|r8|api_org)_\w{30,}"),
    Shape("github-token", "GitHub", r"(?:gh[opusr]_\w{30,}|github_pat_\w{30,})"),
    Shape("gitlab-token", "GitLab", r"gl(?:pat|ptt|rt|soat|dt|ft|cbt|imt|agent|oas|ffct)-[\w.-]{16,}"),
    Shape("gitlab-token", "GitLab runners", r"GR1348941[\w-]{20}"),
    Shape("aws-key", "AWS", r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{12,}"),
    Shape("aws-key", "AWS Bedrock", r"(?:ABSK[A-Za-z0-9+/]{60,}=*|bedrock-api-key-[\w+/=-]{16,})"),
    Shape("google-key", "Google", r"(?:AIza[\w-]{30,}|ya29\.[\w-]{16,}|GOCSPX-[\w-]{20,})"),
    Shape("slack-token", "Slack", r"(?:xox[abeoprs](?:\.xox[bp])?-[\w-]{8,}|xapp-\d-[\w-]{8,})"),
    Shape("slack-webhook", "Slack", r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w+/]{43,56}"),
    Shape("package-token", "npm", r"npm_\w{30,}"),
    Shape("package-token", "PyPI", r"pypi-[\w-]{40,}"),
    Shape("package-token", "RubyGems", r"rubygems_\w{40,}"),
    Shape("digitalocean-token", "DigitalOcean", r"do[opr]_v1_\w{30,}"),
    Shape("shopify-token", "Shopify", r"shp(?:at|ca|pa|ss)_\w{30,}"),
    Shape("api-key", "Linear, Figma, Netlify", r"(?:lin_api|figd|nfp)_[\w-]{20,}"),
    Shape("sendgrid-key", "SendGrid", r"SG\.[\w-]{16,80}\.[\w-]{16,}"),
    Shape("api-key", "Mailgun", r"(?:pub)?key-[0-9a-f]{32}"),
    Shape("square-token", "Square", r"(?:sq0(?:atp|csp)-[\w-]{20,}|EAAA[\w-]{50,})"),
    Shape("facebook-token", "Facebook", r"EAA[MC][A-Za-z0-9]{80,}"),
    Shape("api-key", "Doppler", r"dp\.(?:pt|st|ct|sa)\.\w{30,}"),
    Shape("api-key", "Dynatrace", r"dt0c01\.\w{20,}[\w.]*"),
    Shape("api-key", "Dropbox", r"sl\.[\w=-]{40,}"),
    Shape("vault-token", "Vault", r"hv[bs]\.[\w-]{20,}"),
    Shape("vault-token", "Terraform", r"(?:\w{14}\.)?atlasv1\.[\w=-]{20,}"),
    Shape("api-key", "Pulumi", r"pul-[0-9a-f]{40}"),
    Shape("api-key", "Databricks", r"dapi[0-9a-f]{32}(?:-\d)?"),
    Shape("api-key", "Grafana", r"(?:glsa_\w{30,}|glc_[\w+/=]{30,}|eyJrIjoi[\w+/=-]{60,})"),
    Shape("api-key", "New Relic, Postman", r"(?:NRAK|NRII|NRJS|PMAK)-[\w-]{19,}"),
    Shape("age-key", "age", r"AGE-SECRET-KEY-1\w{20,}"),
    Shape("api-key", "Alibaba", r"LTAI\w{16,}"),
    Shape("api-key", "Adobe", r"p8e-\w{32}"),
    Shape("api-key", "Clojars", r"CLOJARS_[a-z0-9]{60}"),
    Shape("api-key", "Intra42", r"s-s4t2(?:ud|af)-[a-f0-9]{64}"),
    Shape("api-key", "1Password", r"(?:A3-[A-Z0-9]{6}-[A-Z0-9-]{24,}|ops_eyJ[\w+/=]{100,})"),
    Shape("api-key", "Artifactory", r"(?:AKCp[A-Za-z0-9]{69}|cmVmd[A-Za-z0-9]{59})"),
    Shape("api-key", "Sourcegraph", r"(?:sg[pd]_[\w-]{20,}|sm_[aps]at_\w{10,})"),
    Shape("api-key", "Brevo", r"xkeysib-[0-9a-f]{30,}[\w-]*"),
    Shape("api-key", "Flutterwave", r"FLWSECK\w{0,10}-\w{8,}[\w-]*"),
    Shape("api-key", "PlanetScale", r"pscale_[a-z]{1,20}_[\w.=-]{8,}"),
    Shape("api-key", "Duffel", r"duffel_(?:live|test)_[\w=-]{20,}"),
    Shape("api-key", "Typeform", r"tfp_[\w.=-]{20,}"),
    Shape("atlassian-token", "Atlassian", r"AT(?:ATT|CTT)3[\w=-]{20,}"),
    Shape("sentry-token", "Sentry", r"sntry[su]_[\w+/=.]{30,}"),
    Shape("api-key", "Shippo", r"shippo_(?:live|test)_\w{30,}"),
    Shape("api-key", "Prefect", r"pn[ub]_\w{30,}"),
    Shape("api-key", "ReadMe", r"rdme_\w{60,}"),
    Shape("api-key", "Frame.io", r"fio-u-[\w=-]{30,}"),
    Shape("api-key", "EasyPost", r"EZ[AT]K[A-Za-z0-9]{40,}"),
    Shape("api-key", "Fly.io", r"(?:fo1_\w{30,}|fm[12][ar]?_[\w+/=]{60,})"),
    Shape("api-key", "Airtable", r"pat\w{14}\.[0-9a-f]{64}"),
    Shape("api-key", "Octopus", r"API-[A-Z0-9]{26}"),
    Shape("api-key", "OpenShift", r"sha256~[\w-]{40,}"),
    Shape("api-key", "Harness", r"[ps]at\.[\w-]{22}\.[0-9a-f]{24}\.\w{20}"),
    Shape("api-key", "Notion", r"ntn_\w{40,}"),
    Shape("api-key", "Cloudflare", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}"),
    Shape("api-key", "MaxMind", r"\w{6}_\w{29}_mmk"),
    Shape("api-key", "Scalingo", r"tk-us-[\w-]{40,}"),
    Shape("api-key", "Lob", r"(?:live|test)_(?:pub_)?[a-f0-9]{31,}"),
    Shape("api-key", "Infracost", r"ico-\w{32}"),
    Shape("api-key", "Contentful", r"CFPAT-[\w-]{40,}"),
    Shape("api-key", "Heroku", r"HRKU-AA[\w-]{50,}"),
    Shape("api-key", "ClickHouse", r"4b1d[A-Za-z0-9]{38}"),
    Shape("api-key", "Twilio", r"SK[0-9a-fA-F]{32}"),
    Shape("api-key", "Mapbox", r"[ps]k\.eyJ[\w.-]{60,}"),
    Shape("api-key", "Azure", r"[\w~.]{3}\dQ~[\w~.-]{31,34}"),
    Shape("api-key", "Yandex", r"t1\.[\w-]{1,200}={0,2}\.[\w-]{86}={0,2}"),
    Shape("api-key", "Telegram", r"\d{8,10}:A[\w-]{34}"),
    Shape("web-token", "JSON web tokens", r"ey[A-Za-z0-9_-]{10,800}\.ey[A-Za-z0-9_/-]{10,}(?:\.[\w/-]*=*){0,4}"),
)


@cache
def key_pattern() -> re.Pattern[str]:
    """Matches a key of any shape. Compiled at first use, because this takes 50 ms and would slow down the start."""
    return re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(shape.pattern for shape in SHAPES)})", re.ASCII)


LETTER_DIGIT_SWITCH = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
"""A switch from letter to digit or back. Random text has many, names have few."""

STRONG_NAMES = (
    r"passw(?:or)?d|passphrase|passwd|\bpwd|secret|token|api[_-]?key|apikey|access[_-]?key|private[_-]?key|auth[_-]?key"
    r"|account[_-]?key|signing[_-]?key|encryption[_-]?key|client[_-]?key|credential|authorization"
)
"""Names with secret values. They can be parts of a longer name, in any case."""

VENDORS = (
    r"adafruit|adobe|airtable|algolia|alibaba|anthropic|artifactory|asana|atlassian|beamer|bintray|bitbucket|"
    r"bittrex|buildkite|circleci|cloudflare|codecov|cohere|coinbase|confluence|confluent|contentful|curl|"
    r"databricks|datadog|defined|discord|dnkey|droneci|dropbox|dynatrace|etsy|facebook|fastly|finicity|finnhub|"
    r"flickr|freemius|freshbooks|gitlab_session|gitter|gocardless|heroku|hubspot|intercom|jfrog|jira|kraken|"
    r"kucoin|launchdarkly|linear|linked_?in|lob|looker|mailchimp|mailersend|mailgun|mapbox|mattermost|maxmind|"
    r"meraki|message_?bird|microsoft|netlify|new[._-]?relic|new-york-times|newyorktimes|notion|nuget|nytimes|"
    r"octopus|okta|openai|pagerduty|plaid|plivo|postmark|privateai|rapidapi|razorpay|readme|segment|sendbird|"
    r"sendinblue|sentry|sidekiq|snyk|sonar|sonarlogin|squarespace|stripe|sumo|teamcity|telegr|travis|trello|"
    r"twilio|twitch|twitter|vault|xray|yandex|zendesk"
)
"""Names of services, as patterns. A value that is assigned to them is secret if it is random text."""

WEAK_NAMES = rf"\bkey|_key|Key|\bauth|_auth|{VENDORS}"
"""Names that often have values that are not secret, so the value must be random text."""
