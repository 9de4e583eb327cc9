"""Arithmetic as pages write it: "2(p−1)/p·nβ", "7 · (0.3 + 52.43) = 369 µs", "⌈log₂ p⌉α".

A sum may have units; they are factors: 4016 µs is 4016e-6, 12 % is 0.12.
"""

import math
import re

UNITS = {"B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20,
         "GiB": 2**30, "s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9, "%": 0.01, "byte": 1,
         "steps": 1, "bytes": 1, "Ψ": 1}
FRACTIONS = {"½": "(1/2)", "¼": "(1/4)", "¾": "(3/4)", "⅞": "(7/8)", "²": "**2"}
FUNCTIONS = {"ceil": math.ceil, "log2": math.log2, "sqrt": math.sqrt, "min": min, "max": max}

NUMBER = r"\d+(?: \d{3})+(?!\d)|\d+(?:,\d{3})+(?!\d)|\d+\.\d+|\d+"
TOKEN = re.compile(rf"(?P<number>{NUMBER})|(?P<name>[A-Za-zα-ωΑ-Ωµ]+\d?|%)|(?P<power>\*\*)"
                   r"|(?P<other>[-+*/(),^])|(?P<space>\s+)")


def tokens_of(text, has_units):
    for sign, meaning in FRACTIONS.items():
        text = text.replace(sign, meaning)
    text = text.replace("·", "*").replace("−", "-").replace("⌈", "ceil(").replace("⌉", ")")
    text = re.sub(r"log₂ *", "log2 ", text)
    text = re.sub(r"√ *(?=\()", "sqrt", text)
    # "4016 µs" is one factor, also after a "/".
    units = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
    if has_units:
        text = re.sub(rf"({NUMBER})\s*({units})(?![\w])", r"(\1*\2)", text)
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise ValueError(f"{text[at]!r} in {text!r}")
        at = match.end()
        if match.lastgroup != "space":
            yield match.lastgroup, match.group()


def names_in(word, known):
    """The names that a word is the product of: "nβ" is n and β, "µs" is one."""
    if word in known:
        return [word]
    if len(word) > 1 and all(letter in known for letter in word):
        return list(word)
    raise ValueError(f"{word!r} has no value")


def evaluate(text, values=None, units=False):
    """The value of an expression. Throws ValueError if it is none."""
    known = {**FUNCTIONS, **(UNITS if units else {}), **(values or {})}
    code, is_after_value, opened = [], False, 0
    for kind, token in tokens_of(text, units):
        words = names_in(token, known) if kind == "name" else [token]
        for word in words:
            is_value = kind in ("number", "name") or word == "("
            if is_value and is_after_value:
                code.append("*")
            if kind == "number":
                word = re.sub("[ ,]", "", word)
            code.append("**" if word == "^" else word if kind != "name" else f"_['{word}']")
            is_after_value = kind in ("number", "name") or word == ")"
            if word in FUNCTIONS:
                is_after_value = False
                if word == "log2":  # of the next name: log₂ p
                    code.append("(")
                    opened = 1
            elif opened and kind == "name":
                code.append(")")
                opened = 0
    try:
        return float(eval("".join(code), {"__builtins__": {}}, {"_": known}))  # our own tokens
    except (SyntaxError, TypeError, ZeroDivisionError) as error:
        raise ValueError(f"{text!r}: {error}") from error


def last_place_of(text):
    """What one more in the last digit of a printed number is worth: "0.30" → 0.01."""
    number = re.search(r"[\d.,]*\d", text).group().replace(",", "")
    return 10.0 ** -(len(number.split(".")[1]) if "." in number else 0)


def agree(shown, value, unit=1.0, slack=0.0):
    """Whether the number that `shown` begins with is `value`, rounded."""
    number = float(re.search(rf"{NUMBER}", shown).group().replace(",", "").replace(" ", ""))
    return abs(number * unit - value) <= (0.501 * last_place_of(shown) + slack * number) * unit


# A run of numbers, signs and units around "=".
TERM = (r"(?:(?:\d[\d.,]*\d|\d)|[½¼¾⅞√()·+−/%]|\b(?:B|kB|KB|MB|GB|KiB|MiB|GiB|ms|µs|ns|s|byte|bytes"
        r"|steps|Ψ)\b)")
CHAIN = re.compile(rf"{TERM}(?:\s*{TERM})*(?:\s*[=≈]\s*{TERM}(?:\s*{TERM})*)+")


def equations(text):
    """(left, right) of each equation between numbers in a text without line breaks."""
    for match in CHAIN.finditer(text):
        sides = [side.strip(" ,.") for side in re.split("[=≈]", match.group())]
        for left, right in zip(sides, sides[1:]):
            left = left.lstrip("·+/) ")
            if re.search(r"[·+−/√]", left):
                yield left, right


def holds(left, right):
    """Whether an equation holds as far as its digits go. Inputs are rounded, too."""
    value = evaluate(left, units=True)
    result = evaluate(right, units=True)
    digits = re.findall(NUMBER, right)
    if len(digits) != 1:
        return abs(value - result) <= 2e-3 * abs(result)
    unit = result / float(re.sub("[ ,]", "", digits[0]))
    # A left side without units has those of the right.
    return any(agree(right, value * scale, unit, slack=1.5e-3) for scale in (1, unit))
