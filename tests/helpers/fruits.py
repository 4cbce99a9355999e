"""Large files of small functions that have nothing in common but their shape."""

FRUITS = ("apple", "banana", "cherry", "grape", "lemon", "mango", "melon", "olive", "papaya")


def python(functions: int = 60) -> str:
    """A file of small functions that have nothing in common but their shape."""
    parts = ["import os\nimport sys\n\nLIMIT = 10\n"]
    for n in range(functions):
        fruit = f"{FRUITS[n % len(FRUITS)]}_{n}"
        parts.append(
            f"def weigh_{fruit}(basket):\n"
            f'    """Weigh the {fruit}."""\n'
            f"    total = {n}\n"
            "    for one in basket:\n"
            f"        total += one.{FRUITS[n % len(FRUITS)]}\n"
            "    return total\n"
        )
    return "\n\n".join(parts)
