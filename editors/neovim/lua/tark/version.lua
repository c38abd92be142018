---The version of this plugin: that of the tark_lsp it was made for (a test holds them equal).
return '0.1.0'
