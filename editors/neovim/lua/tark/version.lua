---The version of this plugin, which is that of tark_lsp (a test compares them).
return '0.1.0'
