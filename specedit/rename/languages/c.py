"""C and C++: declarators wrap the name; macro bodies are words."""

from __future__ import annotations

from specedit.rename.languages import Rules, places, table

RULES = Rules(
    names=places(
        "identifier type_identifier field_identifier namespace_identifier statement_identifier"
    ),
    scopes=table(
        """
        function_definition lambda_expression preproc_function_def: function
        function_declarator: function
        template_declaration: template
        class_specifier struct_specifier union_specifier: class
        enum_specifier: enum
        namespace_definition: namespace
        compound_statement for_statement for_range_loop catch_clause if_statement: block
        while_statement switch_statement: block
        """
    ),
    declares=table(
        """
        class_specifier.name struct_specifier.name union_specifier.name: class outer
        enum_specifier.name type_definition.declarator alias_declaration.name: class outer
        namespace_definition.name namespace_alias_definition.name: namespace outer
        concept_definition.name: class outer
        declaration.declarator init_declarator.declarator: local here
        condition_clause.declarator for_range_loop.declarator: local here
        function_definition.declarator: function receiver
        field_declaration.declarator: field class
        enumerator.name: value outer
        parameter_declaration.declarator optional_parameter_declaration.declarator: parameter here
        variadic_parameter_declaration.declarator: parameter here
        type_parameter_declaration. optional_type_parameter_declaration.name: type here
        variadic_type_parameter_declaration.: type here
        preproc_def.name preproc_function_def.name: macro file
        preproc_params.: parameter here
        lambda_capture_initializer.left: parameter here
        """
    ),
    patterns=places(
        "pointer_declarator.declarator reference_declarator. array_declarator.declarator",
        "function_declarator.declarator init_declarator.declarator parenthesized_declarator.",
        "structured_binding_declarator. qualified_identifier.name attributed_declarator.",
        "variadic_declarator.",
    ),
    members=table(
        """
        field_expression.field: argument
        qualified_identifier.name: scope
        template_method.name: <
        """
    ),
    keys=table(
        """
        field_designator.: literal
        field_initializer.: constructor
        """
    ),
    calls=table(
        """
        call_expression: function
        new_expression: type
        """
    ),
    type_names=places("type_identifier namespace_identifier"),
    own_names=places("destructor_name."),
    labels=places("statement_identifier"),
    bases=places("base_class_clause"),
    bare_members=True,
    overloads=True,
    fields_hide=True,
    in_order=True,
    opaque=places("preproc_arg"),
    strings=places("string_literal raw_string_literal char_literal system_lib_string"),
)
