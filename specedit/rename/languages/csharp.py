"""C#: members are visible without a receiver, and every name is an `identifier`."""

from __future__ import annotations

from specedit.rename.languages import Rules, places, table

RULES = Rules(
    names=places("identifier implicit_parameter"),
    scopes=table(
        """
        method_declaration constructor_declaration destructor_declaration: function
        local_function_statement lambda_expression anonymous_method_expression: function
        operator_declaration conversion_operator_declaration indexer_declaration: function
        property_declaration accessor_declaration delegate_declaration: function
        class_declaration struct_declaration interface_declaration record_declaration: class
        record_struct_declaration enum_declaration: class
        namespace_declaration: namespace
        block for_statement foreach_statement using_statement catch_clause: block
        switch_section switch_expression_arm query_expression fixed_statement: block
        """
    ),
    declares=table(
        """
        class_declaration.name struct_declaration.name interface_declaration.name: class outer
        record_declaration.name enum_declaration.name delegate_declaration.name: class outer
        record_struct_declaration.name: class outer
        namespace_declaration.name file_scoped_namespace_declaration.name: namespace outer
        method_declaration.name: method class
        property_declaration.name event_declaration.name: field class
        enum_member_declaration.name: field class
        local_function_statement.name: function outer
        variable_declarator.name: local here
        parameter.name parameter_list.name lambda_expression.parameters: parameter here
        type_parameter.name: type here
        foreach_statement.left catch_declaration.name: local here
        declaration_pattern.name recursive_pattern.name var_pattern.name: local here
        declaration_expression.name list_pattern.name: local here
        parenthesized_variable_designation.name tuple_pattern.name: local here
        from_clause.name let_clause.name join_clause.name join_into_clause.: local here
        using_directive.name: import here
        """
    ),
    patterns=places("tuple_pattern. parenthesized_variable_designation."),
    members=table(
        """
        member_access_expression.name: expression
        member_binding_expression.name: ?
        qualified_name.name: qualifier
        alias_qualified_name.name: alias
        """
    ),
    keys=table(
        """
        argument.name: argument
        attribute_argument.name: attribute
        subpattern.: pattern
        name_colon.name: argument
        """
    ),
    calls=table(
        """
        invocation_expression: function
        object_creation_expression: type
        """
    ),
    type_places=places(
        "variable_declaration.type parameter.type parameter_list.type property_declaration.type",
        "method_declaration.returns local_function_statement.type foreach_statement.type",
        "object_creation_expression.type cast_expression.type base_list. type_argument_list.",
        "nullable_type.type array_type.type generic_name. as_expression.right",
        "is_expression.right typeof_expression.type default_expression.type",
        "declaration_pattern.type recursive_pattern.type catch_declaration.type attribute.name",
        "type_parameter_constraint.type delegate_declaration.type event_declaration.type",
        "indexer_declaration.type operator_declaration.type array_creation_expression.type",
        "constant_pattern. type_pattern.type sizeof_expression.type ref_type.type",
        "type_parameter_constraints_clause. explicit_interface_specifier.name",
        "declaration_expression.type tuple_element.type pointer_type.type",
        "qualified_name.qualifier",
    ),
    own_names=places("constructor_declaration.name destructor_declaration.name"),
    labels=places("goto_statement. labeled_statement."),
    bases=places("base_list"),
    supers=places("base"),
    bare_members=True,
    overloads=True,
    in_order=True,
    strings=places("string_literal verbatim_string_literal raw_string_literal"),
)
