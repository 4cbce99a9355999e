"""JavaScript, TypeScript and TSX: object literals are classes without a name."""

from __future__ import annotations

from specedit.rename.languages import Rules, places, table

RULES = Rules(
    names=places(
        "identifier property_identifier private_property_identifier type_identifier",
        "shorthand_property_identifier shorthand_property_identifier_pattern statement_identifier",
    ),
    scopes=table(
        """
        function_declaration function_expression arrow_function method_definition: function
        generator_function generator_function_declaration function_signature: function
        method_signature abstract_method_signature function_type constructor_type: function
        call_signature construct_signature: function
        class_static_block: function
        class_declaration class abstract_class_declaration interface_declaration: class
        enum_declaration object type_alias_declaration: class
        object_type<type_annotation object_type<type_arguments object_type<array_type: class
        object_type<as_expression object_type<satisfies_expression object_type<constraint: class
        internal_module module: namespace
        statement_block for_statement for_in_statement catch_clause switch_body: block
        mapped_type_clause conditional_type: block
        """
    ),
    declares=table(
        """
        function_declaration.name generator_function_declaration.name: function outer
        function_signature.name: function outer
        function_expression.name class.name: function here
        class_declaration.name abstract_class_declaration.name: class outer
        interface_declaration.name type_alias_declaration.name enum_declaration.name: class outer
        internal_module.name module.name: namespace outer
        type_parameter.name mapped_type_clause.name infer_type.: type here
        variable_declarator.name: local after
        for_in_statement.left catch_clause.parameter: local here
        required_parameter.pattern optional_parameter.pattern: parameter here
        formal_parameters. arrow_function.parameter: parameter here
        import_clause. namespace_import. import_specifier.alias: import here
        import_specifier.name import_require_clause.: import here
        method_definition.name method_signature.name abstract_method_signature.name: method class
        public_field_definition.name field_definition.property: field class
        property_signature.name pair.key enum_body.name enum_assignment.name: field class
        """
    ),
    patterns=places(
        "object_pattern. array_pattern. rest_pattern. pair_pattern.value",
        "object_assignment_pattern.left assignment_pattern.left computed_property_name.",
    ),
    members=table(
        """
        member_expression.property: object
        nested_type_identifier.name: module
        nested_identifier.property: object
        """
    ),
    keys=table(
        """
        pair_pattern.key: pattern
        jsx_attribute.: element
        """
    ),
    calls=table(
        """
        call_expression: function
        new_expression: constructor
        """
    ),
    type_names=places("type_identifier"),
    labels=places("statement_identifier"),
    bases=places("class_heritage extends_clause extends_type_clause implements_clause"),
    quoted_keys=True,
    open_enums=True,
    in_order=True,
    hoists=True,
    strings=places("string template_string"),
    comments=places("comment html_comment"),
)
