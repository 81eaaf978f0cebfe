"""What a message pretends is no fact: openers in clauses, headings and sentences; and what looks like one."""

import pytest

from amos.extraction.frames import find_frames
from amos.extraction.frames_found import Kind
from proposed import written_in

PRETENDED = """\
Let's pretend we talk; set my exit to Duna Gate.
Pretend this is a job interview; my name is Ilse.
Imagine it's the year 2090; I live in Turku.
Suppose we are strangers; I live in Turku.
Let's play make-believe; my favourite colour is teal.
Say we've never met; I work as a baker.
Let's act out a scene; I live in Turku.
Assume I'm a tourist; my hotel is the Adler.
We're pretending today; my locker number is 12.
Let's say this is a dream; I have two goats.
Imagine this: I live in Turku.
Picture this: I work as a baker.
Pretend for a moment: my name is Ilse.
Scenario: I live in Turku and my boss is Ana.
Hypothetical: I live in Turku.
Thought experiment: my favourite colour is teal.
Make-believe time: I have two goats.
Role-play prompt: my locker number is 12.
Let's imagine: I'm allergic to squid.
Here's the pretend part: I live in Turku.
In this game: I work as a baker.
What if: I live in Turku.
Let's pretend for a minute — I live in Turku.
Imagine this - my name is Ilse.
Just pretending – I work as a baker.
Let's play a game — my favourite colour is teal.
Suppose for a second — I have two goats.
Hypothetically speaking - I live in Turku.
Fictional scenario — my locker number is 12.
Improv time – I'm allergic to squid.
It's make-believe — I live in Turku.
Let's pretend:\\nI live in Turku.
Imagine this\\nI work as a baker.
Pretend scenario\\n\\nMy name is Ilse.
Let's play a game.\\nMy favourite colour is teal.
Make believe with me\\nI live in Turku.
Role play!\\nI have two goats.
Hypothetically:\\n- I live in Turku\\n- I work as a baker
Scene:\\nI live in Turku.
Let's pretend, my name is Ilse.
Imagine, I live in Turku.
Let's say I live in Turku, and my boss is Ana.
Pretend with me, I work as a baker.
For the sake of argument, I live in Turku.
In our make-believe world, I have two goats.
Supposing I live in Turku, my locker number is 12.
Just for play, my favourite colour is teal.
Let's play a game. I live in Turku.
Let's play pretend. My name is Ilse.
Imagine the following. I work as a baker.
Let's do an improv scene. I live in Turku.
Time for make-believe. My favourite colour is teal.
Picture the scene. I have two goats.
Let's pretend! My locker number is 12.
Let's run a hypothetical. I live in Turku.
Consider a made-up example. I live in Turku.
This is only a role-play. My boss is Ana.
For this exercise, pretend the date is 3 May; I live in Turku.
Can we pretend something? I live in Turku.
We could play house; I live in Turku.
You be the doctor and I'll be the patient; I'm allergic to squid.
Let's play doctor: my name is Ilse.
Ok, let's improvise: my surname is Lund.
Shall we do a role play? I live in Bergen.
Pretending now; I work as a pilot.
Let us try out a fictional interview: I work as a pilot.
I want you to imagine the following: my dog is called Bix.
Suppose this: I have three cats.
Pretend mode on. I live in Bergen.
Let's start a make-believe story; my name is Odo.
Can we play a silly little game? My favourite drink is mead.
Please pretend that we just met; my name is Odo.
Made-up scenario: I live in Bergen, and my wife is Ulla.
Time to role-play - I'm allergic to nuts.
Consider this hypothetical: my rent is 900 euros.
Picture this scene\\nI live in Bergen.
Imaginary case: my landlord is Odo.
I'll be the guest and you be the waiter. I'm allergic to nuts.
You play the teacher, I play the student: my name is Odo.
Now let's pretend\\n\\nI live in Bergen.
Let's enact a short scene: I work as a pilot.
This is just pretend, but my locker number is 31.
In a parallel made-up world, I live in Bergen.
What follows is fiction. I live in Bergen.
All of this is make-believe: I have three cats.
For pretend, my name is Odo.
Hypothetical scenario - my boss is Ulla.
Let's do a thought experiment. My rent is 900 euros.
Tun wir mal so, als ob: ich wohne in Bremen.
Faisons semblant : j'habite à Lyon.
Finjamos que vivo en Cádiz; mi perro se llama Bix.
Let's dream a little: I live in Bergen."""
OWN = """\
I pretend to like opera; I live in Turku.
I can't imagine leaving; I live in Turku.
Let's play chess tonight; I live in Turku.
We played a game; I live in Turku.
I love pretend play; I live in Turku.
The scenario is simple. I live in Turku.
Let's say hello to Ana; I live in Turku.
I suppose so; I live in Turku.
My daughter loves make-believe. I live in Turku.
Let's pretend it never happened. I live in Turku.
What if it rains? I live in Turku.
Let's see; I live in Turku.
Role-play helps me learn. I live in Turku.
We could play outside; I live in Turku.
I'll be the driver; my name is Ilse.
Say hi to Ana; I live in Turku.
I assume you know; I live in Turku.
Let's play it safe; I live in Turku.
We like to play games. I live in Turku.
Picture frames are dear. I live in Turku.
Let's talk about the game. I live in Turku.
I was pretending to sleep. I live in Turku.
Hypothetically it may rain. I live in Turku.
Let's have a game of cards on Friday. I live in Turku.
I love improv. I live in Bergen.
Our game starts at six. I live in Bergen.
She pretended to sleep; I live in Bergen.
I play the flute, and I live in Bergen.
We do role-plays at work. I live in Bergen.
Picture day is Friday. I live in Bergen.
Let's consider the budget; I live in Bergen.
I run a small scene shop. I live in Bergen.
You play guitar and I play drums. I live in Bergen.
I'll be the last one there. I live in Bergen.
Let's try the soup. I live in Bergen.
I'm writing fiction. I live in Bergen.
Take the tram; I live in Bergen.
Let's run this Saturday. I live in Bergen.
The fantasy league is on. I live in Bergen.
I like drawing, make-believe, and trains. I live in Bergen.
We're playing football on Sunday. I live in Bergen.
No need to pretend. I live in Bergen."""


def lines(written):
    return [line.replace("\\n", "\n") for line in written.split("\n")]


@pytest.mark.parametrize("text", lines(PRETENDED))
def test_what_follows_an_opened_pretence_is_not_written(text):
    assert written_in(text) == []


@pytest.mark.parametrize("text", lines(OWN))
def test_what_only_speaks_of_play_takes_nothing_from_its_author(text):
    assert [line["value"] for line in written_in(text)][-1:] in (["Turku"], ["Bergen"], ["Ilse"])


@pytest.mark.parametrize("mark", [";", ":", " —", " –", " -", ",", "!", "\n", "…"])
def test_any_mark_behind_the_opener_lets_the_frame_reach_what_follows(mark):
    text = f"Let's pretend for a minute{mark} I live in Turku."
    played = [one for one in find_frames(text) if one.kind == Kind.PLAYED]
    assert max(one.end for one in played) == len(text.encode())
    assert written_in(text) == []


def test_a_pretence_within_one_sentence_ends_with_it():
    text = "For this exercise, pretend the tram is late; I live in Turku. My name is Ilse."
    assert [line["value"] for line in written_in(text)] == ["Ilse"]


def test_a_heading_covers_its_paragraph():
    text = "Scenario - I live in Turku.\n\nMy name is Ilse."
    assert [line["value"] for line in written_in(text)] == ["Ilse"]
