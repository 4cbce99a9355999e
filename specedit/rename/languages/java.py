"""Java: types, variables and methods are named apart; fields hide, methods override."""

from __future__ import annotations

from specedit.rename.languages import Rules, places, table

RULES = Rules(
    names=places("identifier type_identifier"),
    scopes=table(
        """
        method_declaration constructor_declaration lambda_expression: function
        compact_constructor_declaration static_initializer: function
        class_declaration interface_declaration enum_declaration record_declaration: class
        annotation_type_declaration: class
        class_body<object_creation_expression class_body<enum_constant: class
        block constructor_body for_statement enhanced_for_statement catch_clause: block
        try_with_resources_statement switch_block_statement_group switch_rule: block
        """
    ),
    declares=table(
        """
        class_declaration.name interface_declaration.name enum_declaration.name: class outer
        record_declaration.name annotation_type_declaration.name: class outer
        method_declaration.name annotation_type_element_declaration.name: method class
        variable_declarator.name: local here
        enum_constant.name: field class
        formal_parameter.name catch_formal_parameter.name: parameter here
        inferred_parameters. lambda_expression.parameters: parameter here
        enhanced_for_statement.name resource.name: local here
        instanceof_expression.name type_pattern. record_pattern_component.: local here
        type_parameter.: type here
        import_declaration.: import here
        """
    ),
    patterns=places("scoped_identifier.name"),
    members=table(
        """
        field_access.field: object
        method_invocation.name: object
        method_reference.: <
        scoped_identifier.name: scope
        scoped_type_identifier.: <
        """
    ),
    keys=table("element_value_pair.key: attribute"),
    calls=table(
        """
        method_invocation: name
        object_creation_expression: type
        """
    ),
    type_names=places("type_identifier"),
    type_places=places("marker_annotation.name annotation.name"),
    own_names=places("constructor_declaration.name compact_constructor_declaration.name"),
    labels=places("labeled_statement. break_statement. continue_statement."),
    bases=places("superclass super_interfaces extends_interfaces"),
    bare_members=True,
    overloads=True,
    methods_apart=True,
    members_apart=True,
    fields_hide=True,
    in_order=True,
    strings=places("string_literal"),
)
