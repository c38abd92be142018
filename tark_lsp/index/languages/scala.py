"""Scala."""

from tark_lsp.index.languages.language import CodeLanguage

LANGUAGES = (
    CodeLanguage(
        "scala",
        endings=(".scala", ".sc", ".sbt"),
        programs=("scala",),
        module="tree_sitter_scala",
        query="""
(class_definition name: (identifier) @name) @class
(object_definition name: (identifier) @name) @class
(trait_definition name: (identifier) @name) @interface
(enum_definition name: (identifier) @name) @enum
(simple_enum_case name: (identifier) @name) @constant
(full_enum_case name: (identifier) @name) @constant
(type_definition name: (type_identifier) @name) @type
(type_definition name: (identifier) @name) @type
(function_definition name: (_) @name) @function
(function_declaration name: (_) @name) @function
(given_definition name: (identifier) @name) @variable
(class_parameter ["val" "var"] name: (identifier) @name) @field
(template_body [
  (val_definition pattern: (identifier) @name)
  (var_definition pattern: (identifier) @name)
  (val_declaration name: (identifier) @name)
  (var_declaration name: (identifier) @name)] @field)
(compilation_unit [
  (val_definition pattern: (identifier) @name)
  (var_definition pattern: (identifier) @name)] @variable)

(call_expression function: [
  (identifier) @call
  (field_expression field: (identifier) @call)
  (generic_function function: [(identifier) @call (field_expression field: (identifier) @call)])])
(instance_expression [(type_identifier) @call (generic_type type: (type_identifier) @call)])
(annotation name: (type_identifier) @call)
(identifier) @use
(type_identifier) @use
(package_identifier (identifier) @ignore)

(parameter name: (identifier) @local)
(class_parameter name: (identifier) @local)
(binding name: (identifier) @local)
(lambda_expression parameters: (identifier) @local)
(val_definition pattern: (identifier) @local)
(var_definition pattern: (identifier) @local)
(enumerator . (identifier) @local)
(type_parameters name: (identifier) @local)

(import_declaration ((identifier) @source "."?)+) @import
(import_declaration
  ((identifier) @source "."?)+
  (namespace_selectors [(identifier) @imported (arrow_renamed_identifier name: (identifier) @imported)])) @import
""",
    ),
)
