"""Rust."""

from tark_lsp.index.languages.language import CodeLanguage

LANGUAGES = (
    CodeLanguage(
        "rust",
        endings=(".rs",),
        module="tree_sitter_rust",
        query="""
(function_item name: (identifier) @name) @function
(function_signature_item name: (identifier) @name) @function
(impl_item type: [
  (type_identifier) @name
  (generic_type type: (type_identifier) @name)
  (generic_type type: (scoped_type_identifier name: (type_identifier) @name))
  (scoped_type_identifier name: (type_identifier) @name)]) @scope
(struct_item name: (type_identifier) @name) @class
(union_item name: (type_identifier) @name) @class
(enum_item name: (type_identifier) @name) @enum
(enum_variant name: (identifier) @name) @constant
(trait_item name: (type_identifier) @name) @interface
(type_item name: (type_identifier) @name) @type
(associated_type name: (type_identifier) @name) @type
(field_declaration name: (field_identifier) @name) @field
(mod_item name: (identifier) @name) @module
(const_item name: (identifier) @name) @constant
(static_item name: (identifier) @name) @variable
(macro_definition name: (identifier) @name) @macro

(call_expression function: [
  (identifier) @call
  (scoped_identifier name: (identifier) @call)
  (field_expression field: (field_identifier) @call)
  (generic_function function: [
    (identifier) @call
    (scoped_identifier name: (identifier) @call)
    (field_expression field: (field_identifier) @call)])])
(macro_invocation macro: [(identifier) @call (scoped_identifier name: (identifier) @call)])
(identifier) @use
(type_identifier) @use
(field_identifier) @use
(shorthand_field_identifier) @use

(parameter pattern: [(identifier) @local (mut_pattern (identifier) @local) (tuple_pattern (identifier) @local)])
(let_declaration pattern: [(identifier) @local (mut_pattern (identifier) @local) (tuple_pattern (identifier) @local)])
(for_expression pattern: [(identifier) @local (tuple_pattern (identifier) @local)])
(closure_parameters [(identifier) @local (tuple_pattern (identifier) @local)])
(tuple_struct_pattern type: (_) (identifier) @local)
(captured_pattern . (identifier) @local)
(type_parameter name: (type_identifier) @local)

(use_declaration) @import
(use_declaration argument: (identifier) @source) @import
(use_declaration argument: (scoped_identifier path: (_) @source name: (_) @imported)) @import
(use_declaration argument: (use_as_clause path: (scoped_identifier path: (_) @source name: (_) @imported))) @import
(use_wildcard (_) @source "*" @imported) @import
(use_list (scoped_identifier path: (_) @source name: (_) @imported) @import)
(scoped_use_list
  path: (_) @source
  list: (use_list [(identifier) @imported (self) @imported (use_as_clause path: (identifier) @imported)])) @import
(extern_crate_declaration name: (identifier) @source) @import
""",
    ),
)
