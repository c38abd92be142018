"""Ruby."""

from tark_lsp.index.languages.language import CodeLanguage

LANGUAGES = (
    CodeLanguage(
        "ruby",
        endings=(".rb", ".rake", ".gemspec", ".ru"),
        names=("Rakefile", "Gemfile", "Guardfile", "Capfile", "Vagrantfile", "Podfile", "Fastfile", "Brewfile"),
        programs=("ruby",),
        module="tree_sitter_ruby",
        words=frozenset(
            {b"require", b"require_relative", b"load", b"autoload", b"attr_accessor", b"attr_reader", b"attr_writer"}
        ),
        query="""
(class name: (_) @name) @class
(module name: (_) @name) @module
(method name: (_) @name) @function
(singleton_method name: (_) @name) @method
(assignment left: (constant) @name) @constant
(call method: (identifier) @word arguments: (argument_list (simple_symbol) @name @field))

(call method: [(identifier) (constant)] @call)
(identifier) @use
(constant) @use

(method_parameters [
  (identifier) @local
  (optional_parameter name: (identifier) @local)
  (splat_parameter name: (identifier) @local)
  (hash_splat_parameter name: (identifier) @local)
  (keyword_parameter name: (identifier) @local)
  (block_parameter name: (identifier) @local)])
(block_parameters [(identifier) @local (destructured_parameter (identifier) @local)])
(assignment left: (identifier) @local)
(left_assignment_list (identifier) @local)
(operator_assignment left: (identifier) @local)
(exception_variable (identifier) @local)
(for pattern: (identifier) @local)

(call method: (identifier) @word arguments: (argument_list (string (string_content) @source))) @import
""",
    ),
)
