"""The options --model, --force-model and --mode, which `run` and `chat` share."""

from argparse import ArgumentParser, ArgumentTypeError

from tark_lsp.messages import Mode


def add_model_options(parser: ArgumentParser, where: str) -> None:
    """`where` is the text in the help that says where the options apply."""
    parser.add_argument("--model", metavar="PROVIDER/MODEL", type=model_name, help=f"the model, {where}")
    parser.add_argument(
        "--force-model", action="store_true", help="use the model even if its provider does not list it"
    )
    modes = [str(mode) for mode in Mode]
    parser.add_argument("--mode", choices=modes, help=f"what the agent is allowed to do, {where}")


def model_name(text: str) -> str:
    provider, slash, model = text.partition("/")
    if not (provider and slash and model):
        raise ArgumentTypeError(f"{text!r} is not written as PROVIDER/MODEL")
    return text
