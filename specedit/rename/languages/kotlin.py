"""Kotlin: constructor parameters may be properties; names sit in bare `identifier` children."""

from __future__ import annotations

from specedit.rename.languages import Rules, places, table

RULES = Rules(
    names=places("identifier"),
    scopes=table(
        """
        function_declaration lambda_literal anonymous_function anonymous_initializer: function
        secondary_constructor getter setter: function
        class_declaration object_declaration companion_object object_literal: class
        block for_statement catch_block when_entry when_expression: block
        """
    ),
    declares=table(
        """
        class_declaration.name object_declaration.name type_alias.type: class outer
        companion_object.name: class outer
        function_declaration.name: function outer
        variable_declaration.: local here
        class_parameter.: field class
        parameter. lambda_parameters. catch_block.: parameter here
        type_parameter.: type here
        enum_entry.: field class
        import.: import here
        """
    ),
    patterns=places("multi_variable_declaration. qualified_identifier. variable_declaration."),
    members=table("navigation_expression.: <"),
    keys=table("value_argument.: argument"),
    calls=table("call_expression: <"),
    type_places=places("user_type."),
    bases=places("delegation_specifiers"),
    selves=places("this_expression"),
    supers=places("super_expression"),
    bare_members=True,
    overloads=True,
    members_apart=True,
    dollar_strings=True,
    in_order=True,
    strings=places("string_literal multiline_string_literal"),
)
