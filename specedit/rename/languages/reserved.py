"""The words a language keeps for itself. Data only.

Words that are keywords in some places and names everywhere else (C#'s `var`, Kotlin's `get`,
JavaScript's `of`) are names. JavaScript is read as a module: strict. Rust's `self` is a receiver.
"""

from __future__ import annotations

from keyword import kwlist

from specedit.rename.languages import places

_C = places(
    "auto break case char const continue default do double else enum extern float for goto if",
    "inline int long register return short signed sizeof static struct switch typedef union",
    "unsigned void volatile while alignas alignof asm bool constexpr false nullptr",
    "static_assert thread_local true",
)
_JAVASCRIPT = places(
    "await break case catch class const continue debugger default delete do else enum export",
    "extends false finally for function if import in instanceof new null return super switch this",
    "throw true try typeof var void while with yield",
    "implements interface let package private protected public static",
)

RESERVED = {
    "python": frozenset(kwlist),
    "javascript": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "tsx": _JAVASCRIPT,
    "csharp": places(
        "abstract as base bool break byte case catch char checked class const continue decimal",
        "default delegate do double else enum event explicit extern false finally fixed float for",
        "foreach goto if implicit in int interface internal is lock long namespace new null object",
        "operator out override params private protected public readonly ref return sbyte sealed",
        "short sizeof stackalloc static string struct switch this throw true try typeof uint ulong",
        "unchecked unsafe ushort using virtual void volatile while",
    ),
    "java": places(
        "_ abstract assert boolean break byte case catch char class const continue default do",
        "double else enum extends false final finally float for goto if implements import",
        "instanceof int interface long native new null package private protected public return",
        "short static strictfp super switch synchronized this throw throws transient true try void",
        "volatile while",
    ),
    "kotlin": places(
        "as break class continue do else false for fun if in interface is null object package",
        "return super this throw true try typealias typeof val var when while",
    ),
    "go": places(
        "break case chan const continue default defer else fallthrough for func go goto if import",
        "interface map package range return select struct switch type var",
    ),
    "rust": places(
        "Self abstract as async await become box break const continue crate do dyn else enum",
        "extern false final fn for if impl in let loop macro match mod move mut override priv pub",
        "ref return static struct super trait true try type typeof unsafe unsized use virtual",
        "where while yield 'static",
    ),
    "c": _C
    | places(
        "restrict typeof typeof_unqual _Alignas _Alignof _Atomic _BitInt _Bool _Complex",
        "_Decimal128 _Decimal32 _Decimal64 _Generic _Imaginary _Noreturn _Static_assert",
        "_Thread_local",
    ),
    "cpp": _C
    | places(
        "and and_eq bitand bitor catch char16_t char32_t char8_t class co_await co_return co_yield",
        "compl concept const_cast consteval constinit decltype delete dynamic_cast explicit export",
        "friend mutable namespace new noexcept not not_eq operator or or_eq private protected",
        "public reinterpret_cast requires static_cast template this throw try typeid typename",
        "using virtual wchar_t xor xor_eq",
    ),
    "ruby": places(
        "__ENCODING__ __FILE__ __LINE__ BEGIN END alias and begin break case class def defined do",
        "else elsif end ensure false for if in module next nil not or redo rescue retry return",
        "self super then true undef unless until when while yield",
    ),
    "php": places(
        "__class__ __dir__ __file__ __function__ __halt_compiler __line__ __method__",
        "__namespace__ __trait__ abstract and array as break callable case catch class clone const",
        "continue declare default die do echo else elseif empty enddeclare endfor endforeach endif",
        "endswitch endwhile eval exit extends false final finally fn for foreach function global",
        "goto if implements include include_once instanceof insteadof interface isset list match",
        "namespace new null or print private protected public readonly require require_once return",
        "static switch throw trait true try unset use var while xor yield",
    ),
    "bash": places(
        "case coproc do done elif else esac fi for function if select then time until while",
    ),
}
ANY_CASE = frozenset({"php"})  # a keyword in capitals is one, too
FREE_MEMBERS = frozenset({"javascript", "typescript", "tsx", "php", "ruby"})  # `o.class` is fine
