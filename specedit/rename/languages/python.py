"""Python: assignments bind in the function, members are reached through `self`."""

from __future__ import annotations

from specedit.rename.languages import Rules, places, table

RULES = Rules(
    names=places("identifier"),
    scopes=table(
        """
        function_definition lambda: function
        class_definition: class
        list_comprehension set_comprehension dictionary_comprehension generator_expression: block
        """
    ),
    declares=table(
        """
        function_definition.name: function outer
        class_definition.name: class outer
        parameters. lambda_parameters.: parameter here
        default_parameter.name typed_default_parameter.name typed_parameter.: parameter here
        keyword_separator.: parameter here
        assignment.left named_expression.name for_statement.left: local function
        augmented_assignment.left: local function
        as_pattern_target. as_pattern.alias: local function
        case_pattern.: local function
        for_in_clause.left: local here
        aliased_import.alias: import function
        import_from_statement.name import_statement.name: import function
        type_parameter.: type here
        """
    ),
    patterns=places(
        "pattern_list. tuple_pattern. list_pattern. list_splat_pattern. dictionary_splat_pattern.",
        "as_pattern_target. tuple. list. dotted_name. splat_pattern. parenthesized_expression.",
        "list_splat_pattern. expression_list. case_pattern. list_pattern. typed_parameter.",
    ),
    outside=places(
        "default_parameter.value typed_default_parameter.value typed_default_parameter.type",
        "typed_parameter.type for_in_clause.right",
    ),
    members=table("attribute.attribute: object"),
    keys=table(
        """
        keyword_argument.name: argument
        keyword_pattern.: keyword
        """
    ),
    calls=table("call: function"),
    bases=places("argument_list"),
    selves=frozenset(),
    supers=frozenset(),
    first_is_self=True,
    strings=places("string"),
)
