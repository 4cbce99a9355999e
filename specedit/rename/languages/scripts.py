"""Ruby, PHP and Bash: names carry their kind in a sigil."""

from __future__ import annotations

from specedit.rename.languages import Rules, places, table

RUBY = Rules(
    names=places(
        "identifier constant instance_variable class_variable global_variable simple_symbol",
        "hash_key_symbol bare_symbol",
    ),
    scopes=table(
        """
        method singleton_method lambda: function
        class singleton_class: class
        module: class
        block do_block: block
        """
    ),
    declares=table(
        """
        class.name module.name: class outer
        method.name singleton_method.name: method class
        assignment.left left_assignment_list. operator_assignment.left: local function
        method_parameters. lambda_parameters. block_parameters.: parameter here
        optional_parameter.name splat_parameter.name keyword_parameter.name: parameter here
        hash_splat_parameter.name block_parameter.name destructured_parameter.: parameter here
        exception_variable. for.pattern: local function
        """
    ),
    patterns=places("left_assignment_list. rest_assignment. destructured_left_assignment."),
    members=table("call.method: receiver"),
    keys=table("pair.key: argument"),
    calls=table("call: method"),
    bases=places("superclass"),
    selves=places("self"),
    bare_members=True,
    strings=places("string heredoc_body"),
)
PHP = Rules(
    names=places("name"),
    scopes=table(
        """
        function_definition method_declaration anonymous_function arrow_function: function
        class_declaration interface_declaration trait_declaration enum_declaration: class
        anonymous_class: class
        """
    ),
    declares=table(
        """
        class_declaration.name interface_declaration.name trait_declaration.name: class outer
        enum_declaration.name: class outer
        function_definition.name: function outer
        method_declaration.name enum_case.name: method class
        const_element.: value class
        property_element.name: field class
        property_promotion_parameter.name: parameter here
        simple_parameter.name variadic_parameter.name: parameter here
        anonymous_function_use_clause.: parameter here
        namespace_use_clause. namespace_use_clause.alias: import here
        """
    ),
    patterns=places("variable_name. qualified_name."),
    members=table(
        """
        member_access_expression.name nullsafe_member_access_expression.name: object
        member_call_expression.name nullsafe_member_call_expression.name: object
        scoped_call_expression.name scoped_property_access_expression.name: scope
        class_constant_access_expression.: <
        qualified_name.: <
        """
    ),
    keys=table("argument.name: argument"),
    calls=table(
        """
        function_call_expression: function
        member_call_expression: name
        scoped_call_expression: name
        object_creation_expression: <
        """
    ),
    type_places=places(
        "named_type. base_clause. class_interface_clause. object_creation_expression.",
        "use_declaration.",
    ),
    bases=places("base_clause class_interface_clause use_declaration"),
    selves=frozenset(),
    members_apart=True,
    sigils=True,
    strings=places("string encapsed_string heredoc nowdoc"),
)
BASH = Rules(
    names=places("variable_name word"),
    scopes=table("subshell: block"),
    declares=table(
        """
        function_definition.name: function outer
        variable_assignment.name for_statement.variable declaration_command.: local outer
        word.set raw_string.set string_content.set: local outer
        """
    ),
    calls={"command_name": "", "declaration_command": "function", "unset_command": "function"},
    methods_apart=True,
    builtins=table(  # options with an argument, those whose argument is a name, operands: names
        """
        read: adinNptu a all
        mapfile readarray: dnOsuCc - all
        printf test: v v none
        wait: p p none
        getopts: - - 2
        """
    ),
    strings=places("string raw_string ansi_c_string"),
)
