---`:TarkPaste`: attaches the image in the clipboard to the next prompt of the chat.
local chat = require('tark.chat')
local notify = require('tark.notify')
local request = require('tark.pickers.request')

local M = {}

---@param options? { all?: boolean } all: drops the images that were pasted
function M.paste(options)
  if options and options.all then
    local count = chat.drop_images()
    return notify.info(count > 0 and 'the images were removed from the next prompt' or 'no image was pasted')
  end
  request('tark.clipboardImage', {}, function(answer)
    if not answer.image then
      return notify.warn(answer.problem)
    end
    chat.add_image(answer.image)
    notify.info('the image from the clipboard goes with the next prompt that you write in the chat')
  end)
end

return M
