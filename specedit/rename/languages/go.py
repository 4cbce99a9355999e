"""Go: methods belong to their receiver's type, and every block is a scope."""

from __future__ import annotations

from specedit.rename.languages import Rules, places, table

RULES = Rules(
    names=places("identifier type_identifier field_identifier package_identifier label_name"),
    scopes=table(
        """
        function_declaration method_declaration func_literal method_elem: function
        function_type: function
        type_spec type_alias: class
        struct_type<field_declaration struct_type<var_spec struct_type<slice_type: class
        struct_type<pointer_type struct_type<composite_literal struct_type<map_type: class
        struct_type<parameter_declaration interface_type<parameter_declaration: class
        interface_type<var_spec interface_type<field_declaration: class
        block<function_declaration block<method_declaration block<func_literal: shared
        block for_statement if_statement expression_switch_statement: block
        type_switch_statement select_statement communication_case expression_case: block
        type_case default_case: block
        """
    ),
    declares=table(
        """
        function_declaration.name: function outer
        method_declaration.name: method receiver
        type_spec.name type_alias.name: class outer
        field_declaration.name method_elem.name: field class
        parameter_declaration.name variadic_parameter_declaration.name: parameter here
        type_parameter_declaration.name: type here
        short_var_declaration.left range_clause.left receive_statement.left: local after
        var_spec.name const_spec.name: local after
        type_switch_statement.alias: local subject
        import_spec.name import_spec.path: import here
        """
    ),
    patterns=places("expression_list."),
    members=table(
        """
        selector_expression.field: operand
        qualified_type.name: package
        """
    ),
    keys=table("literal_element.: literal"),
    calls=table("call_expression: function"),
    type_names=places("type_identifier"),
    labels=places("label_name"),
    selves=frozenset(),
    supers=frozenset(),
    in_order=True,
    strings=places("interpreted_string_literal raw_string_literal"),
)
