"""Every line of the manual's page on trust has tests, and they are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from specedit import manual

TESTS = Path(__file__).parent
LINE = re.compile(r"^- \*\*(.+?)\*\*", re.MULTILINE)

# What a line begins with, and the tests that prove it.
PROOFS = {
    "Open settings": (
        "test_trust.py::test_taste_counts_at_once_and_says_nothing",
        "test_threats.py::test_the_page_names_the_open_settings",
    ),
    "Restricted settings": (
        "test_trust.py::test_guarantee_10_nothing_a_repository_says_picks_an_address_a_path_or_a_model",
        "test_trust.py::test_open_settings_are_listed_here_and_all_others_are_restricted",
        "test_trust.py::test_the_python_api_goes_through_the_same_door",
        "test_fuzz_settings.py::test_any_pyproject_is_read_or_refused_and_none_has_power",
    ),
    "Order": ("test_trust.py::test_flag_over_variable_over_repository_over_users_file",),
    "Trust": (
        "test_trust.py::test_a_trusted_repository_is_believed_until_it_says_something_else",
        "test_trust.py::test_trust_is_of_a_place_and_a_table_however_it_is_laid_out",
    ),
    "The question": (
        "test_consent.py::test_yes_is_kept_until_the_table_changes",
        "test_consent.py::test_anything_but_yes_is_no_and_is_not_asked_again",
        "test_consent.py::test_background_commands_ask_nothing",
    ),
    "`quiet`": ("test_trust.py::test_only_the_users_own_quiet_keeps_the_line_back",),
    "Terminal escapes": (
        "test_terminal.py::test_names_and_settings_of_a_repository_are_shown_and_not_obeyed",
        "test_terminal.py::test_the_question_about_a_link_shows_the_whole_of_both_names",
    ),
    "Paths": (
        "test_trust.py::test_a_path_that_a_trusted_repository_gives_stays_inside_it",
        "test_fuzz_settings.py::test_any_trusted_table_is_taken_or_refused_and_leads_nowhere",
    ),
    "Model names": ("test_trust.py::test_a_folder_by_a_models_name_is_not_that_model",),
    "Invalid settings": (
        "test_settings.py::test_a_mistake_is_named_with_the_way_out",
        "test_fuzz_settings.py::test_any_pyproject_is_read_or_refused_and_none_has_power",
        "test_fuzz_settings.py::test_any_rules_are_taken_or_refused",
    ),
    "Nothing": (
        "test_remote.py::test_only_a_url_means_a_remote_server",
        "test_resolve.py::test_law_nothing_leaves_the_machine_when_the_model_is_in_place",
    ),
    "A server": (
        "test_remote.py::test_each_profile_sends_these_fields_and_no_others",
        "test_remote.py::test_the_key_is_sent_and_the_bytes_are_told",
    ),
    "A key": (
        "test_trust.py::test_a_key_goes_only_to_a_server_that_the_user_named",
        "test_remote.py::test_a_vendors_key_goes_to_the_vendor_only",
    ),
    "A server's redirect": ("test_remote.py::test_a_redirect_is_not_followed",),
    "A server's answer": (
        "test_remote.py::test_an_answer_has_an_end",
        "test_remote.py::test_an_answer_that_is_kept_alive_for_ever_has_an_end",
        "test_fuzz_http.py::test_any_stream_is_an_answer_or_our_error",
    ),
    "The socket": (
        "test_client.py::test_the_folder_and_the_socket_are_ours_alone",
        "test_client.py::test_a_folder_that_is_not_one_is_not_trusted",
        "test_client.py::test_a_folder_open_to_others_is_closed",
    ),
    "A web page": (
        "test_server.py::test_a_web_page_cannot_drive_the_model",
        "test_fuzz_http.py::test_any_head_is_let_in_or_refused_and_only_ours_is_let_in",
    ),
    "Other machines": (
        "test_serve_cli.py::test_a_host_that_others_reach_needs_a_token",
        "test_serve_cli.py::test_the_token_of_a_background_server_is_in_no_command_line",
        "test_server.py::test_a_token_is_asked_of_tcp_but_not_of_the_socket",
    ),
    "Any request": (
        "test_fuzz_http.py::test_any_body_is_a_request_or_refused",
        "test_fuzz_wire.py::test_any_line_is_a_plan_or_refused",
        "test_server.py::test_a_body_that_is_too_large_is_refused",
    ),
    "Python modules": (
        "test_trust.py::test_modules_in_the_current_folder_are_not_ours",
        "test_hook_native.py::test_modules_that_lie_in_the_repository_are_not_run_by_its_hook",
    ),
    "Git": (
        "test_git_safe.py::test_guarantee_10_no_question_to_git_runs_what_a_repository_says",
        "test_git_safe.py::test_every_trick_works_where_git_is_asked_plainly",
        "test_git_safe.py::test_filters_of_the_user_s_own_configuration_still_work",
    ),
    "A model's folder": (
        "test_model_folder.py::test_code_in_a_folder_never_runs_and_nobody_is_asked",
        "test_model_folder.py::test_a_pickle_beside_the_weights_is_never_opened",
        "test_model_folder.py::test_a_pickle_beside_a_dummy_is_never_opened",
        "test_model_folder.py::test_a_pickle_called_safetensors_is_never_opened",
        "test_model_folder.py::test_an_adapter_is_refused",
        "test_resolve.py::test_a_hub_id_brings_the_folder_without_code_or_pickles",
    ),
    "A model's file": (
        "test_fuzz_gguf.py::test_a_few_hundred_files",
        "test_fuzz_safetensors.py::test_a_few_hundred_files",
        "test_fuzz_model_folder.py::test_a_few_hundred_folders",
        "test_fuzz_wheels.py::test_a_few_hundred_wheels",
    ),
    "A model's template": (
        "test_template.py::test_a_template_that_would_not_end_or_fill_the_memory_is_an_error",
        "test_template.py::test_a_content_is_never_read_as_template",
        "test_fuzz_model_folder.py::test_a_few_hundred_templates",
    ),
    "Your files": (
        "test_source.py::test_writing_replaces_the_whole_file_and_keeps_its_mode",
        "test_source.py::test_guarantee_3_a_file_that_changed_meanwhile_is_never_overwritten",
        "test_regular.py::test_guarantee_3_what_took_the_files_place_is_not_written_nor_waited_for",
        "test_regular.py::test_a_link_in_the_place_of_a_draft_gives_no_other_file_away",
        "test_atomic.py::test_guarantee_3_a_write_between_comparison_and_rename_is_kept",
        "test_atomic.py::test_somebody_else_s_file_keeps_its_group_or_the_group_s_rights_go",
        "test_faults.py::test_guarantee_3_what_somebody_else_writes_meanwhile_is_never_lost",
        "test_faults.py::test_guarantee_3_on_a_full_disk_every_write_is_whole_or_refused",
        "test_faults.py::test_two_runs_at_once_do_not_overwrite_each_other",
    ),
    "A link": (
        "test_links.py::test_guarantee_10_a_link_out_of_the_work_tree_is_refused_without_a_terminal",
        "test_links.py::test_the_user_at_a_terminal_sees_the_target_and_is_asked",
        "test_links.py::test_what_a_link_leads_to_outside_is_sent_to_no_server",
    ),
    "A killed run": (
        "test_faults.py::test_guarantee_9_killed_at_any_line_nothing_is_lost",
        "test_faults.py::test_guarantee_9_killed_at_a_random_moment_nothing_is_lost",
        "test_journal.py::test_what_a_killed_run_left_is_cleared_up",
    ),
    "A trace": (
        "test_trace.py::test_a_trace_takes_the_place_of_no_other_file",
        "test_trace.py::test_no_link_of_a_repository_says_where_a_trace_goes",
        "test_trace.py::test_a_trace_and_its_page_are_as_closed_as_the_file_they_are_about",
    ),
    "Your own folder": (
        "test_trust.py::test_a_record_that_anybody_may_have_written_counts_for_nothing",
        "test_trust.py::test_the_users_file_is_set_shown_and_taken_back",
    ),
    "The store": ("test_journal.py::test_a_journal_is_private",),
}


def lines() -> list[str]:
    return LINE.findall(manual.page("trust"))


def test_every_line_has_its_proof_and_every_proof_its_line():
    assert lines() == list(PROOFS)
    assert len(lines()) == manual.page("trust").count("\n- ")


@pytest.mark.parametrize("line", PROOFS)
def test_the_tests_of_a_line_are_there(line):
    assert PROOFS[line]
    for proof in PROOFS[line]:
        file, _, name = proof.partition("::")
        assert name in functions_in(next(TESTS.rglob(file))), proof


def functions_in(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return {node.name for node in functions if node.name.startswith("test")}


def test_the_page_names_the_open_settings():
    from specedit.settings import names
    from specedit.settings.table import is_restricted

    (said,) = re.findall(r"^- \*\*Open settings\*\*(.*?)^- ", manual.page("trust"), re.S | re.M)
    named = set(re.findall(r"`(\w+)`", said))
    open_settings = {name for name in names() if not is_restricted(name)}
    assert named == open_settings - {"hook"}
