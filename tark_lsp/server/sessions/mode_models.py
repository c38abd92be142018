"""Changes the model with the mode, if the settings name a model for a mode (`models.modes`)."""

from tark_lsp.agent.session import Session
from tark_lsp.messages import Mode
from tark_lsp.settings import ModelChoices


def change_mode(session: Session, mode: Mode, models: ModelChoices) -> None:
    """Set the mode of a session. If the new or the old mode has its own model, also set the session's model.

    A model that the user selects is kept until then.
    """
    if mode is session.mode:
        return
    left, own = models.modes.of(session.mode), models.modes.of(mode)
    if left is None:
        session.usual_model = session.model
    if own is not None or left is not None:
        session.model = own or session.usual_model
    session.mode = mode
