std = 'luajit'
globals = { 'vim' }
max_line_length = 120
files['spec'] = { std = '+busted' }
files['spec/run.lua'] = { globals = { 'arg' } }
