"""The size of a derivative follows the text of the program and the order of the
derivative, not the number of steps: operations are counted, since times vary.
Runs the astrac of the path; the argument is a folder for the programs."""
import os
import subprocess
import sys


def count(program):
    """The operations of the differentiated program."""
    path = os.path.join(sys.argv[1], "program.astra")
    with open(path, "w") as file:
        file.write(program)
    done = subprocess.run(["astrac", "--emit=differentiated", path],
                          capture_output=True, text=True, check=True)
    return sum(" = astra." in line for line in done.stdout.splitlines())


def derivative(order):
    f = "f(x)"
    for _ in range(order):
        f = f"grad(|x: f64| {f})(x)"
    return f"export fn d(x: f64) -> f64 = {f}\n"


STEP = "sin(0.9 * h + x)"
LOOPS = {
    "scan": "fn f(x: f64) -> f64 = scan(|h: f64, i: i64| { let y = %s; (y, y) }, x,"
            " [i for i in 0..N]).0\n",
    "for": "fn f(x: f64) -> f64 = loop (h = x) for i in 0..N { %s }\n",
    "while": "fn f(x: f64) -> f64 { let (h, _) = loop (h = x, i = 0) while i < N"
             " { (%s, i + 1) }; h }\n",
    "checkpoint": "fn f(x: f64) -> f64 = loop (h = x) for i in 0..N checkpoint"
                  " { %s }\n",
}


def fail(text):
    print("FAILED", text)
    sys.exit(1)


def steps_do_not_matter():
    for name, text in LOOPS.items():
        for order in (1, 2):
            sizes = [count((text % STEP).replace("N", str(n)) + derivative(order))
                     for n in (80, 800)]
            print(name, "order", order, sizes)
            if sizes[0] != sizes[1] or sizes[0] > 200 * order * order:
                fail(f"{name}: the operations for 80 and 800 steps are {sizes}")


def text_counts_once():
    """Each step of a chain adds the same to a derivative, however long the chain
    is: `most` operations, the step's own and its constant among them."""
    for order, most in ((1, 6), (2, 13), (3, 36)):
        sizes = []
        for k in (8, 16, 32):
            body = "".join(f"  let x = sin(x * {1 + i / 8})\n" for i in range(k))
            sizes.append(count(f"fn f(x: f64) -> f64 {{\n{body}  x\n}}\n"
                               + derivative(order)))
        print("chain, order", order, sizes)
        if sizes[2] - sizes[1] > 16 * most or sizes[1] - sizes[0] > 8 * most:
            fail(f"order {order}: {sizes} operations for 8, 16, 32 steps")


steps_do_not_matter()
text_counts_once()
