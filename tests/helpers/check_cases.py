"""What the checks find and what they leave alone: kind, language, the text before and after.

Each row replaces something in its language's text. A kind of "" means that nothing is to be found.
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
    ("", "go", "return sum * rate, nil", "return helper(sum) * rate, nil", ""),  # no folder
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
    ("", "java", "class Cart {", "class Cart implements Runnable {", ""),
    (
        "undefined",
        "java",
        "class Cart {",
        "class Cart implements Runnable {\n    int x = factor;",
        "",
    ),
    ("undefined", "java", "sum += one;", "summe.add(one);", ""),
    ("", "java", "sum += one;", "java.util.List.of(one);", ""),
    # members of `self` and `this`
    ("undefined", "python", "self.items = items\n", "pass\n", ""),
    ("undefined", "python", "(self.items, rate)", "(self.itmes, rate)", ""),
    ("", "python", "(self.items, rate)", "(self.total, rate)", ""),
    (
        "",
        "python",
        "class Cart:",
        "class Cart(logging.Handler):\n    size = 0\n\n    def n(self):\n        return self.x\n",
        "",
    ),
    ("", "python", "(self.items, rate)", "(self.rates, rate)\n\n\nCart.rates = 1", ""),
    ("undefined", "typescript", "total(this.items, rate)", "total(this.itmes, rate)", ""),
    ("", "typescript", "String(this.gross(2))", "String([1].map(() => this.gross(2)))", ""),
    ("", "typescript", "class Cart {", "class Cart extends Base {\n  a = this.b;\n", ""),
    (
        "",
        "typescript",
        "read(String(this.gross(2)));",
        "read(function () {\n      return this.b;\n    });",
        "",
    ),
    ("undefined", "rust", "total(&self.items, rate)", "total(&self.itmes, rate)", ""),
    ("", "rust", "self.gross(2)", "self.clone().gross(2)", ""),
    ("undefined", "java", "int sum = 0;", "int sum = this.start;", ""),
    ("", "java", "int sum = 0;", "int sum = this.hashCode();", ""),
    ("undefined", "csharp", "int sum = 0;", "int sum = this.start;", ""),
    ("", "csharp", "int sum = 0;", "int sum = this.Count();", ""),
    # values of a return
    ("returns", "go", "return sum * rate, nil", "return sum * rate", ""),
    ("returns", "go", "return sum * rate, nil", "return sum, rate, nil", ""),
    ("returns", "go", "fmt.Println(sum, err)\n", "fmt.Println(sum)\n\treturn err\n", ""),
    ("", "go", "return sum * rate, nil", "return Total(items, rate)", ""),
    ("", "go", "return sum * rate, nil", "return func() (int, error) { return 1, nil }()", ""),
    ("", "go", "rate int) (int, error)", "rate int) (a int, err error)", ""),
    # twice
    ("repeated", "java", "import java.util.List;", "package shop;\n\nimport java.util.List;", ""),
    (
        "repeated",
        "java",
        "    private List",
        "    class A {}\n\n    class A {}\n\n    private List",
        "",
    ),
    (
        "",
        "java",
        "    private List",
        "    class A {}\n\n    class B {\n        class A {}\n    }\n\n    private List",
        "",
    ),
    (
        "repeated",
        "csharp",
        "    public class Cart\n",
        "    class Cart {}\n\n    public class Cart\n",
        "",
    ),
    (
        "",
        "csharp",
        "    public class Cart\n",
        "    class Cart<T> {}\n\n    public class Cart\n",
        "",
    ),
    ("repeated", "go", "// Total sums.", "type T int\n\ntype T string\n\n// Total sums.", ""),
    ("repeated", "go", "import (", "package shop\n\nimport (", ""),
    ("repeated", "rust", "struct Cart {", "struct Cart;\n\nstruct Cart {", ""),
    (
        "",
        "rust",
        "struct Cart {",
        "#[cfg(a)]\nfn f() {}\n\n#[cfg(b)]\nfn f() {}\n\nstruct Cart {",
        "",
    ),
    (
        "",
        "rust",
        "impl Cart {",
        "impl A<u8> for Cart {\n    fn a() {}\n}\n\nimpl A<u16> for Cart {\n    fn a() {}\n}\n\n"
        "impl Cart {",
        "",
    ),
    (
        "repeated",
        "typescript",
        "export class Cart {",
        "type A = 1;\ntype A = 2;\n\nexport class Cart {",
        "",
    ),
    ("repeated", "typescript", "  show(): void {", "  gross() {}\n\n  show(): void {", ""),
    ("", "typescript", "  show(): void {", "  static gross() {}\n\n  show(): void {", ""),
    ("", "typescript", "export class", "read({ a() {} });\nread({ a() {} });\n\nexport class", ""),
    ("", "go", "func show() {", "func init() {}\n\nfunc init() {}\n\nfunc show() {", ""),
    ("unreachable", "python", "    return net * (1 + rate)", "    return net\n    print(net)", ""),
    ("unreachable", "typescript", "return sum * rate;", "return sum;\n  write(label);", ""),
    ("unreachable", "go", "return sum * rate, nil", "return 1, nil\n\tsum++", ""),
    ("unreachable", "rust", "    sum * rate\n", "    return sum;\n    sum * rate\n", ""),
    ("unreachable", "java", "return sum * rate;", "return sum;\n        items.clear();", ""),
    ("unreachable", "csharp", "return sum * rate;", "return sum;\n            items = null;", ""),
    ("", "typescript", "return sum * rate;", "return f();\n  function f() { return 1; }", ""),
    ("renamed", "python", "def main():", "def run():", "Print more"),
    ("", "python", "def main():", "def run():", "Rename main to run"),
    ("", "python", "def main():", "def run():", "Print more in a function `run`"),
    (
        "",
        "python",
        "net = sum(cart)",
        "net = sum(cart, 1)",
        "Let every function print more, main() too",
    ),
    (
        "",
        "python",
        "return gross_total(self.items, rate)",
        "return gross_total(self.items, 2)",
        "Give gross_total another rate",
    ),
    ("renamed", "typescript", "export class Cart", "export class Basket", "Make it longer"),
    ("nothing", "python", "    # net first\n", "    # the net comes first\n", "Sum faster"),
    ("", "python", "    # net first\n", "    # the net comes first\n", "Reword the comment"),
    ("nothing", "java", "        // one by one\n", "", "Sum faster"),
    ("whitespace", "python", "\n\n\nclass", "\n\nclass", "Sum faster"),
    ("", "python", "\n\n\nclass", "\n\nclass", "Format it"),
    (
        "whitespace",
        "csharp",
        "            int sum = 0;",
        "              int sum = 0;",
        "Sum faster",
    ),
)
