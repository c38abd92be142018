"""Makes the agent's turn out of a request: its model, what it is told, its tools' context, who is asked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tark_lsp.agent import events
from tark_lsp.agent.approval import Policy
from tark_lsp.agent.gate import Gate
from tark_lsp.agent.limits import Limits
from tark_lsp.agent.prompt import LONGEST_GIVEN, Pointer, Surroundings, system_parts, system_prompt, turn_prompt
from tark_lsp.agent.rules import Rule
from tark_lsp.agent.session import Session
from tark_lsp.agent.state import Turn
from tark_lsp.context.budget import Estimates
from tark_lsp.context.snippets import format_head
from tark_lsp.context.system_part import SystemPart
from tark_lsp.errors import RequestError
from tark_lsp.llm.client import Models
from tark_lsp.messages import Image, Mode
from tark_lsp.server import protocol
from tark_lsp.server.asking.inputs import Inputs
from tark_lsp.server.asking.permission import Permissions
from tark_lsp.server.asking.questions import Questions
from tark_lsp.server.asking.turn_person import TurnPerson
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.documents.documents import Documents
from tark_lsp.server.documents.targets import Target, Targets
from tark_lsp.server.prompting.comments import PromptComment, find_comments
from tark_lsp.server.prompting.giving import Means
from tark_lsp.server.prompting.mentions import Given, Mentions
from tark_lsp.server.review.alarms import Alarms
from tark_lsp.server.review.reviews import Reviews
from tark_lsp.server.turns.client_state import ClientState, TurnEditor
from tark_lsp.server.turns.default_model import default_model
from tark_lsp.server.turns.guiding import Guiding, files_of, memory_of
from tark_lsp.server.turns.single_file import SingleFiles
from tark_lsp.server.turns.turn_record import TurnRecord
from tark_lsp.settings import Settings
from tark_lsp.tools import load_tools
from tark_lsp.tools.results import capped
from tark_lsp.tools.tool import Diagnostic, Results, Tool, ToolContext
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import split_lines

TOO_LONG = "{} is long: the model is told its beginning, and can read on"


class Preparation:
    """One per server; called once per turn."""

    def __init__(
        self,
        configuration: Configuration,
        workspace: Workspace,
        documents: Documents,
        targets: Targets,
        state: ClientState,
        inputs: Inputs,
        questions: Questions,
        permissions: Permissions,
        reviews: Reviews,
        single_files: SingleFiles,
        mentions: Mentions,
        results_of: Callable[[str], Results],
    ) -> None:
        """`results_of(session_id)`: where the whole texts of the session's cut results are."""
        self._configuration = configuration
        self.workspace = workspace
        self._documents = documents
        self._targets = targets
        self.state = state
        self._inputs = inputs
        self._questions = questions
        self._permissions = permissions
        self._reviews = reviews
        self.single_files = single_files
        self._mentions = mentions
        self.results_of = results_of
        self.estimates = Estimates()
        self._alarms = Alarms(reviews)
        self._tools: Mapping[str, Tool[Any]] = {}
        self._guiding = Guiding()

    @property
    def settings(self) -> Settings:
        return self._configuration.settings

    @property
    def models(self) -> Models:
        return self._configuration.models

    async def __call__(self, record: TurnRecord, emit: events.Listener) -> Turn:
        session, target = record.session, record.target
        document = target.selection.snapshot.path if target is not None and target.is_file else None
        workspace, note = self.single_files.workspace(document)
        settings = self.settings
        if record.request.mode is not None:  # now, not when it was queued: another turn of the session ran until here
            session.mode = record.request.mode
        model = await self.models.open(record.request.model or await self.model_of(session))
        prompt = record.request.prompt
        if record.request.ask_for_prompt:
            prompt = await self._ask_for_prompt(record)
        prompt = record.kind.words(prompt)
        context = self._context(record, emit, workspace)
        rules = policy(settings)
        self._alarms.calm()
        person = TurnPerson(
            record.id,
            session.id,
            context,
            self._permissions,
            self._reviews,
            review_after=settings.review_under(session.approval) == "after",
            comment=self._comment(record),
            alarms=self._alarms if settings.check_after_edit else None,
        )
        now = replace(rules, level=session.approval, grants=tuple(session.grants))
        given = await self._mentions.give(prompt, Means(context, now, self.tools(), person.permit))
        around = await self._surroundings(record, context, workspace, given)
        guidance = self._guiding.find(session, workspace, document, [*session.seen, *files_of(record.request)], rules)
        context.skills = guidance.skills
        record.notes += [note] if note else []
        record.notes += [f"{each.name}: {each.missing}" for each in given if each.missing]
        record.notes += self._guiding.news(guidance)
        return Turn(
            id=record.id,
            session=session,
            kind=record.kind,
            prompt=turn_prompt(prompt, record.kind, session.mode, workspace, around),
            system=system_prompt(system_parts(workspace, guidance.parts)),
            model=model,
            tools=self.tools(),
            context=context,
            person=person,
            emit=emit,
            rules=rules,
            estimates=self.estimates,
            steering=record.steering,
            gate=Gate(self.state, workspace) if settings.check_after_edit else None,
            limits=Limits(
                settings.limits.turn_requests,
                settings.limits.turn_usd,
                settings.limits.session_usd,
                settings.limits.tool_seconds,
            ),
        )

    async def model_of(self, session: Session) -> str:
        """Found, and agreed to by the person, where the session has none yet. Raises NoModel."""
        if session.model is None:
            session.model = await default_model(self.settings.model, self.models, self._questions)
        return session.model

    def tools(self) -> Mapping[str, Tool[Any]]:
        self._tools = self._tools or load_tools()
        return self._tools

    def system_parts(self, session: Session, document: Path | None = None) -> list[SystemPart]:
        """Those a turn of the session would begin with now, if it were about `document` (resolved) and no other."""
        known = self.single_files.folder_is_open
        workspace = self.workspace if known else self.single_files.workspace(document)[0]
        guidance = self._guiding.find(session, workspace, document, list(session.seen), policy(self.settings))
        return system_parts(workspace, guidance.parts)

    def _context(self, record: TurnRecord, emit: events.Listener, workspace: Workspace) -> ToolContext:
        session, target = record.session, record.target
        selected = target is not None and target.is_file and not target.whole
        context = ToolContext(
            workspace=workspace,
            editor=TurnEditor(self.state, self._inputs, record.id, session.id),
            selection=target.selection if target is not None and selected else None,
            seen=session.seen,
            results=self.results_of(session.id),
            mode=session.mode,
            result_tokens=self.settings.limits.tool_result_tokens,
            report=lambda message: emit(events.Step(message)),
            notify=lambda message: emit(events.Notice("info", message)),
            memory=memory_of(workspace),
            set_plan=lambda entries: emit(events.PlanChanged(entries)),
        )

        def set_mode(mode: Mode) -> None:
            session.mode = context.mode = mode

        def changed_by_command(paths: Sequence[Path]) -> None:
            if record.turn is not None:
                known = record.turn.changed_by_command
                known += [path for path in paths if path not in known]

        context.set_mode = set_mode
        context.changed_by_command = changed_by_command
        if context.selection is not None:  # the model is given these lines, so it has read them
            session.seen[context.selection.snapshot.path] = context.selection.snapshot
        return context

    async def _surroundings(
        self, record: TurnRecord, context: ToolContext, workspace: Workspace, given: Sequence[Given]
    ) -> Surroundings:
        request, target = record.request, record.target
        extra = [each for each in request.context if not isinstance(each, protocol.ImageContext)]
        pointer = None
        diagnostics: Sequence[Diagnostic] = ()
        if target is not None and not request.chat:
            pointer = Pointer(target.name, target.selection, target.is_file, target.whole)
            if target.is_file:
                diagnostics = await self.state.diagnostics(target.selection.snapshot.path)
        return Surroundings(
            pointer,
            [document.path for document in self._documents if document.path and workspace.is_inside(document.path)],
            _nearest(diagnostics, target),
            [
                *[await self._extra(each, context, record.notes) for each in extra],
                *((each.name, each.text) for each in given),
            ],
            [Image(each.mime_type, each.data) for each in request.context if isinstance(each, protocol.ImageContext)],
        )

    async def _extra(
        self, each: protocol.FileContext | protocol.TextContext, context: ToolContext, notes: list[str]
    ) -> tuple[str, str]:
        """Its name and text; of a long one the beginning, with how to read on, which the person is told, too."""
        if isinstance(each, protocol.TextContext):
            if len(each.text) > LONGEST_GIVEN:
                notes.append(TOO_LONG.format(each.name))
            return each.name, capped(context, each.text.split("\n"), limit=LONGEST_GIVEN)
        try:
            target = await self._targets.find(protocol.DocumentId(uri=each.uri), each.range)
        except RequestError as error:
            return each.uri, f"[not there: {error.message}]"
        selection = target.selection
        text = selection.snapshot.text
        code = text[selection.start : selection.end]
        if len(code) > LONGEST_GIVEN:
            notes.append(TOO_LONG.format(target.name))
        first = text.count("\n", 0, selection.start) + 1
        return target.name, format_head(selection.snapshot.path, first, code, LONGEST_GIVEN, target.name)

    def _comment(self, record: TurnRecord) -> PromptComment | None:
        wanted, target = record.request.comment, record.target
        if wanted is None or target is None or not target.is_file:
            return None
        snapshot = target.selection.snapshot
        lines = split_lines(snapshot.text)
        found = find_comments(lines, target.language_id or snapshot.path.suffix.removeprefix("."), snapshot)
        # Its lines are those of when the action was made: only where that very prompt is still there, may they go.
        same = [comment for comment in found if comment.prompt == record.request.prompt]
        return min(same, key=lambda comment: abs(comment.start - wanted.start.line), default=None)

    async def _ask_for_prompt(self, record: TurnRecord) -> str:
        answer = await self._inputs.ask(
            record.id, record.session.id, f"{record.kind.name.title()}: what?", (), False, True
        )
        if not isinstance(answer, str) or not answer.strip():
            raise RequestError("no prompt was given, so nothing was done")
        return answer


def policy(settings: Settings) -> Policy:
    rules = settings.permissions
    allow, ask, deny = (tuple(Rule.parse(each) for each in some) for some in (rules.allow, rules.ask, rules.deny))
    no_commands = ""
    if settings.workspace_trusted is False:
        no_commands = "the person does not trust this workspace, so no command is run in it"
    elif settings.sandbox == "require":
        no_commands = "the settings require a sandbox for commands, and this version of tark-lsp has none yet"
    return Policy(
        settings.approval,
        allow,
        ask,
        deny,
        edit_review=settings.edit_review,
        no_commands=no_commands,
    )


def _nearest(diagnostics: Sequence[Diagnostic], target: Target | None) -> list[Diagnostic]:
    """Those of the selection first, then by line; a turn on the whole document gets them in order."""
    if target is None or target.whole:
        return sorted(diagnostics, key=lambda each: each.line)
    text = target.selection.snapshot.text
    first = text.count("\n", 0, target.selection.start)
    last = text.count("\n", 0, target.selection.end)
    return sorted(diagnostics, key=lambda each: (not first <= each.line <= last, each.line))
