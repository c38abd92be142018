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

-- What a session's updates make (transcript.lua); the same in Python and TypeScript, held together by tests/protocol.

---@class tark.Transcript
---@field turns tark.Turn[] in the order of their first update

---@class tark.Turn
---@field turnId string
---@field seq integer of the last update that is in it
---@field gap boolean an update is missing: draw anew from tark.session.open
---@field state 'queued'|'running'|'ended'
---@field prompt string
---@field turnKind? string
---@field model? string
---@field mode? string
---@field range? lsp.Range
---@field blocks tark.Block[]
---@field plan? { content: string, status: string }[]
---@field usage? table
---@field stopReason? string
---@field error? { code: string, message: string, hint: string }
---@field edits? { uri: string, state: string }[]
---@field changedByCommand? string[]

---@class tark.Block `kind` says which fields there are
---@field kind 'text'|'thinking'|'toolCall'|'notice'
---@field text? string
---@field level? string
---@field message? string
---@field toolCallId? string
---@field name? string
---@field title? string
---@field toolKind? string
---@field status? string
---@field arguments? string
---@field locations? table[]
---@field content? table[]
