---@meta
error('only annotations, never loaded')

-- What the server sends, in the words of docs/protocol.md. Positions are LSP's, in the encoding of the client.

---@class tark.Hunk
---@field hunkId string
---@field turnId string
---@field range lsp.Range in the document's `version`: over the old text if not applied, else over the new
---@field oldText string
---@field newText string
---@field applied boolean
---@field state 'pending'|'accepted'|'rejected'|'conflict'|'stale'
---@field outsideSelection boolean
---@field operation? { kind: 'remove'|'move', target?: string } where the file itself is concerned
---@field reason? string why it is in conflict or stale

---@class tark.DocumentHunks
---@field uri string
---@field version? integer nil: the document is not open
---@field hunks tark.Hunk[]

---@class tark.Update what came under `update` of a `tark/update`; its fields depend on `kind`
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
---@field byModel? boolean the words are a model's

-- What a session's updates make (transcript.lua, docs/clients.md); the same in Python and TypeScript, held together by
-- tests/protocol.

---@class tark.Transcript
---@field sessionId string
---@field earlier boolean the session has messages before these
---@field turns tark.Turn[] in the order of their first update, but for those of which only hunks are known
---@field byId table<string, tark.Turn> also the ones that are not listed
---@field complete? boolean it was begun here, or loaded (this and the next are of updates.lua)
---@field last? integer of how many messages it was loaded
---@field reloading? boolean an update is missing, and it was asked for

---@class tark.Turn
---@field turnId string
---@field seq integer of the last update that is in it
---@field gap boolean an update is missing: draw anew from tark.session.open
---@field listed boolean it is one of the transcript's `turns`
---@field state 'sending'|'queued'|'running'|'ended' sending: the chat shows it, the server has not taken it
---@field began? integer when it was seen first, of vim.uv.now() (updates.lua)
---@field prompt string
---@field turnKind? string
---@field model? string
---@field mode? string
---@field range? lsp.Range
---@field blocks tark.Block[]
---@field calls table<string, tark.Block> those of kind toolCall by their ids
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
---@field costUsd? number nil: nobody knows
---@field contextUsed? integer
---@field contextWindow? integer

---@class tark.Block `kind` says which fields there are
---@field kind 'text'|'thinking'|'prompt'|'toolCall'|'notice' `prompt`: what the person said to the running turn
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

---@class tark.Change what an update made different, for a view to draw anew
---@field turn tark.Turn
---@field block? tark.Block the one that is new, has grown or changed
---@field kind tark.ChangeKind

---@alias tark.ChangeKind
---| 'turn'     # it is new, began or ended: its head and its end, and the calls that an end cancels
---| 'block'    # a new one at its end
---| 'text'     # the last block has more words at its end
---| 'toolCall' # a call has other fields, in its place
---| 'plan'
---| 'usage'
