"""Rankbox's embedded sentences in Python: the same texts as training/data/sentences.h.

    although the staff was rude , the food was not really bad .        1, positive
    the food was really bad , although the staff was not rude .        0, negative

Only the main clause counts, and whether it is negated. Sentence i depends on the seed and i alone.
"""

from rankbox_random import Random

THINGS = ["food", "service", "room", "staff", "music", "view", "price", "coffee", "beach",
          "breakfast", "wine", "garden"]
GOOD = ["good", "lovely", "excellent", "friendly", "great", "fresh", "charming", "pleasant",
        "superb", "delightful"]
BAD = ["bad", "awful", "terrible", "rude", "poor", "stale", "dirty", "horrible", "dreadful",
       "disappointing"]
DEGREES = ["", "", "very ", "really ", "quite ", "so "]
OPENINGS = ["", "", "to be honest , ", "this time ", "on monday ", "frankly , ", "for us ",
            "last summer "]
ENDINGS = [" .", " !", " in the end .", " on both days .", " , we thought ."]


def any_of(words, random):
    return words[random.below(len(words))]


def clause(is_good, random):
    """A clause that says that something was good, or that it was bad."""
    negated = random.chance(.35)
    adjective = any_of(GOOD if is_good != negated else BAD, random)
    degree = any_of(DEGREES, random)
    thing = any_of(THINGS, random)
    return f"the {thing} was {'not ' if negated else ''}{degree}{adjective}"


def sentence(random):
    is_good = random.chance(.5)
    main = clause(is_good, random)
    other = clause(random.chance(.5), random)
    opening = any_of(OPENINGS, random)
    forms = [main, f"although {other} , {main}", f"{main} , although {other}",
             f"{other} , but {main}", f"whatever they say of how {other} , {main}"]
    return opening + forms[random.below(5)] + any_of(ENDINGS, random), int(is_good)


def sentences(count, part="train", seed=1):
    """Returns (text, label) pairs."""
    random = Random(Random(seed).stream(part).at(0))
    return [sentence(random.stream(i)) for i in range(count)]
