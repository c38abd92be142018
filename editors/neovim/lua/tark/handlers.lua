---What the server asks and tells beyond LSP: each method's file, loaded when it first comes.

---@type table<string, lsp.Handler>
return {
  ['tark/update'] = function(_, params, context)
    require('tark.updates').received(params, context.client_id)
    return vim.NIL
  end,
  ['tark/session'] = function(_, params, context)
    require('tark.updates').session(params.session, context.client_id)
    return vim.NIL
  end,
  ['tark/requestPermission'] = function(_, params, context)
    return require('tark.permission').requested(params, context.client_id)
  end,
  ['tark/requestInput'] = function(_, params, context)
    return require('tark.input').requested(params, context.client_id)
  end,
  ['tark/clientState'] = function(_, params, context)
    return require('tark.client_state').answer(params, context.client_id)
  end,
  ['tark/save'] = function(_, params)
    return require('tark.save').answer(params)
  end,
  ['workspace/applyEdit'] = function(_, params, context)
    return require('tark.apply_edit').answer(params, context)
  end,
  ['window/showMessage'] = function(_, params)
    -- Neovim's own handler ends its lines so that they wait for a key.
    local notify, levels = require('tark.notify'), vim.log.levels
    local level = ({ levels.ERROR, levels.WARN })[params.type] or levels.INFO
    notify.say((params.message:gsub('^Tark: ', '')), level)
    return vim.NIL
  end,
  ['$/cancelRequest'] = function(_, _, context)
    require('tark.permission').taken_back(context.client_id)
    return vim.NIL
  end,
}
