"""Small talks about people, in any order, for tests of who is meant."""

from hypothesis import strategies as st

from remembered import told

SAID = (
    "My sister lives in Ghent.",
    "She works as a nurse.",
    "Her favourite colour is green.",
    "My sister Ana likes tea.",
    "Ana lives in Bonn.",
    "My brother Tom loves chess.",
    "Tom from work lives in Riga.",
    "Tom's desk is 12.",
    "Tom lives in Oslo.",
    "He likes carrots.",
    "My sister's name is Ana.",
    "Eva is my sister.",
    "My sister Eva hates fennel.",
    "My boss is called Maria.",
    "Her birthday is on 3 May.",
    "I had lunch with Lotte.",
    "They love hiking.",
    "My parents live in Bonn.",
    "My mom likes opera.",
    "My mother lives in Ulm.",
    "I live in Metz.",
    "Tom Baker lives in Rome.",
    "My boss likes slides.",
)


@st.composite
def talks_about_people(draw):
    """Return `messages` lines of two talks by two authors, some without a time; each says something else."""
    texts = draw(st.lists(st.sampled_from(SAID), min_size=2, max_size=5, unique=True))
    lines = []
    for number, text in enumerate(texts):
        line = told(f"m{number}", text, draw(st.integers(1, 6)), turn=number)
        line["conversation"] = draw(st.sampled_from(["one", "two"]))
        if draw(st.integers(0, 6)) == 0:
            line["author"] = "Kim"
        if draw(st.integers(0, 8)) == 0:
            del line["ts"]
        lines.append(line)
    return lines
