"""What the gate finds and what it leaves alone: kind, language, the text before, the text after.

Each row replaces something in its language's text. A kind of "" means that there is nothing to say.
"""

from __future__ import annotations

PYTHON = '''\
"""The shop."""

import logging
import os

logger = logging.getLogger(__name__)


def gross_total(cart, rate: float = 0.2) -> float:
    """With tax."""
    # net first
    net = sum(cart)
    logger.info("net %s of %d", net, len(cart))
    return net * (1 + rate)


class Cart:
    def __init__(self, items):
        self.items = items

    def total(self, rate):
        return gross_total(self.items, rate)


def main():
    cart = Cart([1])
    print("{} {}".format(cart.total(0.1), os.sep))
    print(gross_total([2]))
'''

TYPESCRIPT = """\
import { read, write } from "./files";

export function total(items: number[], rate: number, label?: string): number {
  // the sum
  const sum = items.reduce((a, b) => a + b, 0);
  write(label ?? "");
  return sum * rate;
}

export class Cart {
  constructor(private items: number[]) {}

  gross(rate: number): number {
    return total(this.items, rate);
  }

  show(): void {
    read(String(this.gross(2)));
  }
}
"""

GO = """\
package shop

import (
\t"fmt"
\t"strings"
)

// Total sums.
func Total(items []int, rate int) (int, error) {
\tsum := 0
\tfor _, one := range items {
\t\tsum += one
\t}
\tfmt.Printf("%d %s\\n", sum, strings.ToUpper("x"))
\treturn sum * rate, nil
}

func show() {
\tsum, err := Total([]int{1}, 2)
\tfmt.Println(sum, err)
}
"""

RUST = """\
use std::collections::HashMap;

/// Sums.
fn total(items: &[i32], rate: i32) -> i32 {
    let sum: i32 = items.iter().sum();
    println!("{} {}", sum, rate);
    sum * rate
}

struct Cart {
    items: Vec<i32>,
    names: HashMap<String, i32>,
}

impl Cart {
    fn new(items: Vec<i32>) -> Cart {
        Cart { items, names: HashMap::new() }
    }

    fn gross(&self, rate: i32) -> i32 {
        total(&self.items, rate)
    }

    fn twice(&self) -> i32 {
        self.gross(2)
    }
}

fn show() -> i32 {
    Cart::new(vec![1]).items.len() as i32
}
"""

JAVA = """\
package shop;

import java.util.List;
import java.util.Optional;

public class Cart {
    private List<Integer> items;

    /** Sums. */
    public int total(int rate, String label) {
        int sum = 0;
        // one by one
        for (int one : items) {
            sum += one;
        }
        System.out.println(String.format("%s: %d%n", label, sum));
        return sum * rate;
    }

    public void show() {
        Optional<String> name = Optional.of("x");
        total(2, name.get());
    }
}
"""

CSHARP = """\
using System;

namespace Shop
{
    public class Cart
    {
        private int[] items = new int[0];

        /// Sums.
        public int Total(int rate, string label = "")
        {
            int sum = 0;
            // one by one
            foreach (var one in items)
            {
                sum += one;
            }
            Console.WriteLine("{0}: {1}", label, sum);
            return sum * rate;
        }

        public void Show()
        {
            Total(2, label: "x");
        }
    }
}
"""

TEXTS = {
    "python": PYTHON,
    "typescript": TYPESCRIPT,
    "go": GO,
    "rust": RUST,
    "java": JAVA,
    "csharp": CSHARP,
}

# kind, language, what is replaced, by what, the instruction
TABLE: tuple[tuple[str, str, str, str, str], ...] = (
    ("undefined", "python", "return net * (1 + rate)", "return net * (1 + tax)", ""),
    ("undefined", "python", "import os\n", "", ""),
    ("", "python", "return net * (1 + rate)", "return abs(net) * (1 + rate)", ""),
    ("", "python", "net = sum(cart)", "net = sum(x for x in cart if (y := x))", ""),
    ("", "python", "import os\n", "from os import *\n", "Import all"),
    ("undefined", "typescript", "return sum * rate;", "return sum * factor;", ""),
    ("", "typescript", "return sum * rate;", "return parseInt(String(sum)) * rate;", ""),
    ("", "typescript", "return sum * rate;", "const { a: b } = { a: 1 };\n  return b;", ""),
    ("undefined", "go", 'import (\n\t"fmt"\n\t"strings"\n)', 'import (\n\t"fmt"\n)', ""),
    ("", "go", "return sum * rate, nil", "return helper(sum) * rate, nil", ""),
    ("undefined", "rust", "sum * rate\n", "sum * factor\n", ""),
    ("undefined", "rust", "use std::collections::HashMap;\n", "", ""),
    ("", "rust", "sum * rate\n", "i32::from(sum) * rate\n", ""),
    ("undefined", "java", "return sum * rate;", "return sum * factor;", ""),
    ("undefined", "java", "import java.util.List;\n", "", ""),
    (
        "",
        "java",
        "public class Cart {",
        "public class Cart extends Base {\n    int x = factor;",
        "",
    ),
    ("undefined", "csharp", "return sum * rate;", "return sum * factor;", ""),
    ("", "csharp", "return sum * rate;", "return Helper.Of(sum) * rate;", ""),
    ("", "csharp", "class Cart\n", "class Cart : Base\n", ""),
    ("arguments", "python", "gross_total([2])", "gross_total([2], 0.1, 3)", ""),
    ("arguments", "python", "gross_total([2])", "gross_total([2], discount=3)", ""),
    ("arguments", "python", "cart.total(0.1)", "Cart()", ""),
    ("", "python", "gross_total([2])", "gross_total(rate=1, cart=[2])", ""),
    ("", "python", "gross_total([2])", "gross_total(*[[2]])", ""),
    ("parameters", "python", "(cart, rate: float = 0.2)", "(cart, tax, rate: float = 0.2)", ""),
    ("", "python", "(cart, rate: float = 0.2)", "(cart, rate: float = 0.2, *, _tax=0)", ""),
    ("parameters", "python", "def __init__(self, items):", "def __init__(self, items, n):", ""),
    ("arguments", "typescript", "total(this.items, rate)", "total(this.items)", ""),
    ("arguments", "typescript", "this.gross(2)", "this.gross(2, 3)", ""),
    ("", "typescript", "total(this.items, rate)", 'total(this.items, rate, "x")', ""),
    ("parameters", "typescript", "gross(rate: number)", "gross(rate: number, tax: number)", ""),
    ("arguments", "go", "Total([]int{1}, 2)", "Total([]int{1})", ""),
    ("parameters", "go", "(items []int, rate int)", "(items []int, rate, tax int)", ""),
    ("", "go", "(items []int, rate int)", "(items []int, rate int, _tax ...int)", ""),
    ("arguments", "rust", "total(&self.items, rate)", "total(&self.items)", ""),
    ("arguments", "rust", "self.gross(2)", "self.gross()", ""),
    ("arguments", "rust", "Cart::new(vec![1])", "Cart::new(vec![1], 2)", ""),
    ("parameters", "rust", "gross(&self, rate: i32)", "gross(&self, rate: i32, tax: i32)", ""),
    ("", "rust", "self.gross(2)", "Cart::gross(self, 2)", ""),
    ("arguments", "java", "total(2, name.get())", "total(2)", ""),
    (
        "parameters",
        "java",
        "total(int rate, String label)",
        "total(int rate, String label, int x)",
        "",
    ),
    ("", "java", "total(2, name.get())", "this.total(2, null)", ""),
    ("arguments", "csharp", 'Total(2, label: "x")', "Total()", ""),
    ("arguments", "csharp", 'Total(2, label: "x")', 'Total(2, name: "x")', ""),
    ("parameters", "csharp", "Total(int rate, ", "Total(int rate, int tax, ", ""),
    ("", "csharp", 'Total(2, label: "x")', "Total(2)", ""),
    ("format", "python", '"net %s of %d", net, len(cart)', '"net", net', ""),
    ("format", "python", '"net %s of %d", net, len(cart)', '"net %s of %d", net', ""),
    ("format", "python", '"{} {}".format', '"{} {} {}".format', ""),
    ("format", "python", "print(gross_total([2]))", 'print("%s %s" % (1, 2, 3))', ""),
    ("format", "python", "print(gross_total([2]))", 'print("the cart {cart}")', ""),
    ("", "python", '"net %s of %d", net, len(cart)', '"100%% %s %d", net, 1, exc_info=True', ""),
    ("", "python", '"{} {}".format', '"{0} {1!r:>{0}}".format', ""),
    ("", "python", "print(gross_total([2]))", 'print(f"{gross_total([2])}")', ""),
    ("format", "go", '"%d %s\\n", sum', '"%d\\n", sum', ""),
    ("", "go", '"%d %s\\n", sum', '"%5.2d%% %[1]s %s\\n", sum', ""),
    ("format", "rust", '"{} {}", sum, rate', '"{} {}", sum', ""),
    ("", "rust", '"{} {}", sum, rate', '"{sum} {r:?} {{}}", r = rate', ""),
    ("format", "java", '"%s: %d%n", label, sum', '"%s: %d %d%n", label, sum', ""),
    ("", "java", '"%s: %d%n", label, sum', '"%1$s %n", label, sum', ""),
    ("format", "csharp", '"{0}: {1}", label, sum', '"{0}: {2}", label, sum', ""),
    ("", "csharp", '"{0}: {1}", label, sum', '"{0}: {1,5:N2} {{x}}", label, sum', ""),
    ("unreachable", "python", "    return net * (1 + rate)", "    return net\n    print(net)", ""),
    ("unreachable", "typescript", "return sum * rate;", "return sum;\n  write(label);", ""),
    ("unreachable", "go", "return sum * rate, nil", "return 1, nil\n\tsum++", ""),
    ("unreachable", "rust", "    sum * rate\n", "    return sum;\n    sum * rate\n", ""),
    ("unreachable", "java", "return sum * rate;", "return sum;\n        items.clear();", ""),
    ("unreachable", "csharp", "return sum * rate;", "return sum;\n            items = null;", ""),
    ("", "typescript", "return sum * rate;", "return f();\n  function f() { return 1; }", ""),
    ("returns", "python", "return net * (1 + rate)", "return [net]", ""),
    ("returns", "python", "return net * (1 + rate)", "return", ""),
    ("", "python", "return net * (1 + rate)", "return 1", ""),
    ("returns", "typescript", "return sum * rate;", 'return "many";', ""),
    ("returns", "go", "return sum * rate, nil", "return sum * rate", ""),
    ("", "go", "return sum * rate, nil", "return other(sum)", ""),
    ("returns", "java", "total(2, name.get());", "return total(2, name.get());", ""),
    ("returns", "csharp", "return sum * rate;", "return;", ""),
    ("", "csharp", "return sum * rate;", "Func<int> f = () => { return 1; };\n return f();", ""),
    ("imports", "python", "os.sep", "1", ""),
    ("imports", "python", "import os\n", "import os\nimport re\n", ""),
    ("", "python", "import os\n", "import os\nimport re  # noqa\n", ""),
    ("imports", "typescript", "read(String(this.gross(2)));", "this.gross(2);", ""),
    ("imports", "go", 'strings.ToUpper("x")', '"x"', ""),
    (
        "imports",
        "java",
        'Optional<String> name = Optional.of("x");',
        'Name name = new Name("x");',
        "",
    ),
    ("comments", "python", "    # net first\n", "", ""),
    ("comments", "python", '    """With tax."""\n', "", ""),
    ("", "python", "    # net first\n", "", "Remove the comments"),
    ("", "python", "    # net first\n", "    # the net comes first\n", "Reword the comment"),
    ("comments", "typescript", "  // the sum\n", "", ""),
    ("comments", "go", "// Total sums.\n", "", ""),
    ("comments", "rust", "/// Sums.\n", "", ""),
    ("comments", "java", "        // one by one\n", "", ""),
    ("comments", "csharp", "        /// Sums.\n", "", ""),
    (
        "duplicate",
        "python",
        "def main():",
        "def gross_total(a):\n    return a\n\n\ndef main():",
        "",
    ),
    ("", "python", "def main():", "def net_total(a):\n    return a\n\n\ndef main():", ""),
    (
        "duplicate",
        "typescript",
        "  show(): void {",
        "  gross(): number { return 1; }\n\n  show(): void {",
        "",
    ),
    ("duplicate", "go", "func show() {", "func show() {}\n\nfunc show() {", ""),
    (
        "duplicate",
        "java",
        "public void show() {",
        "public void show() {}\n    public void show() {",
        "",
    ),
    (
        "",
        "java",
        "public void show() {",
        "public void show(int x) {}\n    public void show() {",
        "",
    ),
    ("callers", "python", "def main():", "def main(name):", ""),
    ("", "python", "def main():", "def main(_name=None):", ""),
    ("callers", "go", "func show() {", "func show(name string) {", ""),
    ("renamed", "python", "def main():", "def run():", "Print more"),
    ("", "python", "def main():", "def run():", "Rename main to run"),
    ("", "python", "def main():", "def run():", "Print more in a function `run`"),
    ("missing", "python", "def main():", "def main(depth=1):", "Add a parameter max_depth"),
    ("effect", "python", "def main():", "def main(max_depth=1):", "Add a parameter max_depth"),
    (
        "",
        "python",
        "def main():\n",
        "def main(max_depth=1):\n    print(max_depth)\n",
        "Add a parameter max_depth",
    ),
    ("effect", "python", "    net = sum(cart)", "    n = len(cart)\n    net = sum(cart)", ""),
    ("effect", "python", "    net = sum(cart)", "    net = sum(cart)\n    net = net", ""),
    ("effect", "python", "sum(cart)", "sum(cart[:2] + cart[2:])", ""),
    ("", "python", "sum(cart)", "sum(cart[:2] + cart[3:])", ""),
    ("effect", "python", "    net = sum(cart)", "    sorted(cart)\n    net = sum(cart)", ""),
    ("", "python", "    net = sum(cart)", "    cart.sort()\n    net = sum(cart)", ""),
    ("effect", "python", "    net = sum(cart)", "    rate > 0\n    net = sum(cart)", ""),
    (
        "effect",
        "python",
        "    net = sum(cart)",
        "    for i in range(3):\n        print(i)\n        i += 1\n    net = sum(cart)",
        "",
    ),
    (
        "",
        "python",
        "    net = sum(cart)",
        "    for i in range(3):\n        i += 1\n        print(i)\n    net = sum(cart)",
        "",
    ),
    (
        "",
        "python",
        "    net = sum(cart)",
        "    i = 0\n    for i in cart:\n        i += 1\n    net = sum(cart) + i",
        "",
    ),
    (
        "effect",
        "python",
        "    net = sum(cart)",
        "    net = sum(cart)\n    if net != 0:\n        print(net)\n    else:\n        net = 0",
        "",
    ),
    (
        "effect",
        "python",
        "    net = sum(cart)",
        "    net = sum(cart)\n    if rate:\n        net += 1\n    else:\n        net += 1",
        "",
    ),
    (
        "effect",
        "python",
        "def main():",
        "def each(a):\n    yield a\n    raise StopIteration\n\n\ndef main():",
        "",
    ),
    (
        "",
        "python",
        "def main():",
        "def next_of(a):\n    print(a)\n    raise StopIteration\n\n\ndef main():",
        "",
    ),
    (
        "",
        "python",
        "    net = sum(cart)",
        "    with open('a') as f:\n        pass\n    a, b = cart\n    net = sum(cart) + a",
        "",
    ),
    ("effect", "typescript", "  write(label", "  const one = 1;\n  write(label", ""),
    ("effect", "typescript", "sum * rate", "rate - rate", ""),
    ("effect", "go", "(items []int, rate int)", "(items []int, rate int, tax ...int)", ""),
    ("effect", "java", "return sum * rate;", "int two = 2;\n        return sum * rate;", ""),
    ("effect", "csharp", "return sum * rate;", "int two = 2;\n            return sum * rate;", ""),
    (
        "",
        "csharp",
        "return sum * rate;",
        "using var two = F();\n            return sum * rate;",
        "",
    ),
    ("unasked", "python", "    print(gross_total([2]))\n", "    pass\n\n\nmain()\n", "Say less"),
    ("", "python", "    print(gross_total([2]))\n", "    pass\n\n\nmain()\n", "Run main"),
    (
        "unasked",
        "python",
        "    print(gross_total([2]))\n",
        '    pass\n\n\nif __name__ == "__main__":\n    main()\n',
        "Say less",
    ),
    (
        "unasked",
        "python",
        "def main():",
        "def check():\n    assert gross_total([1])\n\n\ndef main():",
        "Mend the spelling",
    ),
    (
        "",
        "python",
        "def main():",
        "def check():\n    assert gross_total([1])\n\n\ndef main():",
        "Add a check of gross_total",
    ),
    (
        "unasked",
        "typescript",
        "export class",
        "console.log(total([1], 2));\nexport class",
        "Mend it",
    ),
    ("elsewhere", "python", "net = sum(cart)", "net = sum(cart, 1)", "Let main() print more"),
)
