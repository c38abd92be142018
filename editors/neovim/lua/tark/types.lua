---@meta
error('only annotations, never loaded')

-- What the server sends (docs/protocol.md). Positions are those of LSP, in the encoding of the client.

---@class tark.Hunk
---@field hunkId string
---@field turnId string
---@field range lsp.Range in the document's `version`: of the old text if it is not applied, else of the new text
---@field oldText string
---@field newText string
---@field applied boolean
---@field state 'pending'|'accepted'|'rejected'|'conflict'|'stale'
---@field outsideSelection boolean
---@field operation? { kind: 'remove'|'move', target?: string } if it is about the file itself
---@field reason? string why it is in conflict or stale

---@class tark.DocumentHunks
---@field uri string
---@field version? integer nil: the document is not open
---@field hunks tark.Hunk[]

---@class tark.Update the `update` of a `tark/update`; its fields depend on `kind`
---@field kind string

---@class tark.UpdateParams
---@field sessionId string
---@field turnId string
---@field seq integer
---@field update tark.Update

---@class tark.Permission params of `tark/requestPermission`
---@field requestId string
---@field sessionId string
---@field turnId string
---@field toolCallIds string[]
---@field title string
---@field toolKind string
---@field risk 'read_only'|'write'|'risky'|'dangerous'
---@field why string
---@field digest string
---@field command? { argv: string[], text: string, cwd: string, env: table<string, string> }
---@field edits? tark.DocumentHunks[]
---@field grants { id: string, covers: string }[]

---@class tark.PermissionReply
---@field outcome 'allow'|'reject'|'cancelled'
---@field grant? string
---@field hunks? string[]
---@field reason? string

---@class tark.Input params of `tark/requestInput`
---@field requestId string
---@field sessionId string
---@field turnId string
---@field question string
---@field options { id: string, label: string }[]
---@field multiple boolean
---@field freeText boolean
---@field byModel? boolean the model wrote the question

-- What the updates of a session make (state/transcript.lua, docs/clients.md). It is the same in Python and TypeScript,
-- as tests/protocol checks.

---@class tark.Transcript
---@field sessionId string
---@field earlier boolean the session has messages before these
---@field turns tark.Turn[] in the order of their first update, without those of which only hunks are known
---@field byId table<string, tark.Turn> including those that are not listed
---@field complete? boolean it started here, or was loaded (this and the next two are set by state/updates.lua)
---@field last? integer number of messages that were loaded
---@field reloading? boolean an update is missing, and the session is being loaded again

---@class tark.Turn
---@field turnId string
---@field seq integer number of its last update
---@field gap boolean an update is missing: load the session again with tark.session.open
---@field listed boolean it is in the transcript's `turns`
---@field state 'sending'|'queued'|'running'|'ended' sending: the chat shows it, but the server has not accepted it
---@field began? integer time of its first update, of vim.uv.now() (state/updates.lua)
---@field prompt string
---@field turnKind? string
---@field model? string
---@field mode? string
---@field range? lsp.Range
---@field blocks tark.Block[]
---@field calls table<string, tark.Block> blocks of kind toolCall by their ids
---@field plan? { content: string, status: string }[]
---@field usage? tark.Usage
---@field stopReason? string
---@field error? { code: string, message: string, hint: string }
---@field edits? { uri: string, state: string }[]
---@field changedByCommand? string[]

---@class tark.Usage
---@field inputTokens? integer
---@field cachedTokens? integer
---@field outputTokens? integer
---@field reasoningTokens? integer
---@field costUsd? number nil: unknown
---@field contextUsed? integer
---@field contextWindow? integer

---@class tark.Block `kind` says which fields it has
---@field kind 'text'|'thinking'|'prompt'|'toolCall'|'notice' `prompt`: a message of the user to the running turn
---@field text? string of text, thinking, prompt
---@field level? string
---@field message? string
---@field toolCallId? string
---@field name? string
---@field title? string
---@field toolKind? string
---@field status? 'pending'|'in_progress'|'waiting'|'completed'|'failed'|'rejected'|'cancelled'
---@field arguments? string
---@field locations? table[]
---@field content? table[]

---@class tark.Change what an update changed, so that a view can draw it again
---@field turn tark.Turn
---@field block? tark.Block the block that is new, has grown or changed
---@field kind tark.ChangeKind

---@alias tark.ChangeKind
---| 'turn'     # it is new, has started or ended: its first and last lines, and the calls that an end cancels
---| 'block'    # a new block at the end
---| 'text'     # the last block has more text at its end
---| 'toolCall' # fields of a call have changed
---| 'plan'
---| 'usage'
