---@meta
error('only annotations, never loaded')

-- What the server sends (docs/protocol.md). Positions are LSP positions in the encoding of the client.

---@class tark.Hunk
---@field hunkId string
---@field turnId string
---@field range lsp.Range in the document's `version`: the range of the old text if not applied, else of the new text
---@field oldText string
---@field newText string
---@field applied boolean
---@field state 'pending'|'accepted'|'rejected'|'conflict'|'stale'
---@field outsideSelection boolean
---@field operation? { kind: 'remove'|'move', target?: string } if the hunk is about the file itself
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
---@field grants tark.Grant[]
---@field unsaved? string[] URIs of documents that the command does not see as they are in Neovim

---@class tark.Grant
---@field id string
---@field covers string
---@field scope? 'turn'|'session'|'always'

---@class tark.PermissionReply
---@field outcome 'allow'|'reject'|'cancelled'
---@field grant? string
---@field hunks? string[]
---@field reason? string
---@field save? boolean the unsaved documents are saved first

---@class tark.Input params of `tark/requestInput`
---@field requestId string
---@field sessionId string
---@field turnId string
---@field question string
---@field options { id: string, label: string }[]
---@field multiple boolean
---@field freeText boolean
---@field byModel? boolean the model wrote the question
