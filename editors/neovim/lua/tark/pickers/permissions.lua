---Lists the permissions that cover more than a single call, and revokes those that the user chooses.
local figures = require('tark.figures')
local notify = require('tark.notify')
local request = require('tark.pickers.request')
local visible = require('tark.visible')

local M = {}

---@class tark.GivenPermission a row of `tark.permissions.list`
---@field id string
---@field covers string
---@field folder? string the workspace folder of a stored permission
---@field holds boolean

---@param given tark.GivenPermission
---@return string
local function row(given)
  return visible.line(
    figures.join(
      given.covers,
      given.folder and vim.fn.fnamemodify(given.folder, ':~') or nil,
      not given.holds and 'the folder was replaced' or nil
    )
  )
end

function M.choose()
  request('tark.permissions.list', {}, function(answer)
    local items = answer.permissions
    if #items == 0 then
      return notify.info('you allowed nothing in this workspace beyond single calls')
    end
    vim.ui.select(items, { prompt = 'Revoke:', kind = 'tark_permission', format_item = row }, function(given)
      if not given then
        return
      end
      request('tark.permissions.revoke', { ids = { given.id } }, function(revoked)
        if #revoked.revoked == 0 then
          return notify.info('it was already revoked')
        end
        notify.info(('revoked: %s; running turns ask again, too'):format(visible.line(given.covers)))
      end)
    end)
  end)
end

return M
