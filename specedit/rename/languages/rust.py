"""Rust: `let` binds anew, `impl` adds to a type, and macros are half parsed."""

from __future__ import annotations

from specedit.rename.languages import Rules, places, table

RULES = Rules(
    names=places(
        "identifier type_identifier field_identifier shorthand_field_identifier lifetime label",
        "metavariable",
    ),
    scopes=table(
        """
        function_item function_signature_item closure_expression macro_rule: function
        struct_item enum_item union_item trait_item impl_item: class
        enum_variant: class
        mod_item: namespace
        type_item block match_arm for_expression if_expression while_expression: block
        match_pattern_scope associated_type: block
        """
    ),
    declares=table(
        """
        function_item.name function_signature_item.name: function outer
        struct_item.name enum_item.name union_item.name trait_item.name: class outer
        type_item.name associated_type.name: class outer
        mod_item.name extern_crate_declaration.name extern_crate_declaration.alias: namespace outer
        const_item.name static_item.name: value outer
        macro_definition.name: macro outer
        field_declaration.name: field class
        enum_variant.name: field outer
        let_declaration.pattern let_condition.pattern: local after
        parameter.pattern closure_parameters.: parameter here
        for_expression.pattern match_pattern.: local here
        type_parameter.name const_parameter.name lifetime_parameter.name: type here
        use_declaration.argument use_list. use_as_clause.alias: import here
        """
    ),
    patterns=places(
        "tuple_pattern. slice_pattern. ref_pattern. mut_pattern. captured_pattern. or_pattern.",
        "reference_pattern. tuple_struct_pattern. field_pattern.pattern field_pattern.name",
        "struct_pattern. match_pattern. scoped_identifier.name scoped_use_list.list use_list.",
        "parenthesized_pattern.",
    ),
    members=table(
        """
        field_expression.field: value
        scoped_identifier.name: path
        scoped_type_identifier.name: path
        """
    ),
    keys=table(
        """
        field_initializer.field: literal
        shorthand_field_initializer.: literal
        field_pattern.name: pattern
        """
    ),
    calls=table("call_expression: function"),
    type_names=places("type_identifier lifetime"),
    labels=places("label"),
    bases=places("trait_bounds"),
    selves=places("self"),
    members_apart=True,
    constants_match=True,
    supers=frozenset(),
    in_order=True,
    format_macros=table(
        """
        print println eprint eprintln format format_args panic todo unimplemented: 0
        unreachable anyhow bail: 0
        write writeln assert debug_assert ensure: 1
        assert_eq assert_ne debug_assert_eq debug_assert_ne: 2
        trace debug info warn error log: any
        """
    ),
    strings=places("string_literal raw_string_literal char_literal"),
)
