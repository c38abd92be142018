---The version of this plugin, which is the version of tark_lsp (a test compares them).
return '0.1.0'
