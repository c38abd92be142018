"""The model goes with the mode, if the settings name one for a mode (`models.modes`)."""

from tark_lsp.agent.session import Session
from tark_lsp.messages import Mode
from tark_lsp.settings import ModelChoices


def change_mode(session: Session, mode: Mode, models: ModelChoices) -> None:
    """Set the mode of a session, and its model if this mode, or the one before it, has a model of its own.

    A model that the user chooses holds until then.
    """
    if mode is session.mode:
        return
    left, own = models.modes.of(session.mode), models.modes.of(mode)
    if left is None:
        session.usual_model = session.model
    if own is not None or left is not None:
        session.model = own or session.usual_model
    session.mode = mode
