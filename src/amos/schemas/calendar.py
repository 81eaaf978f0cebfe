"""Names of weekdays, months and small numbers in the languages that Amos reads."""

from __future__ import annotations

_WEEKDAYS = (
    "monday mon mondays montag mo montags lundi lundis lunes",
    "tuesday tue tues tuesdays dienstag di dienstags mardi mardis martes",
    "wednesday wed weds wednesdays mittwoch mittwochs mercredi mercredis miércoles miercoles",
    "thursday thu thur thurs thursdays donnerstag donnerstags jeudi jeudis jueves",
    "friday fri fridays freitag freitags vendredi vendredis viernes",
    "saturday sat saturdays samstag samstags sonnabend samedi samedis sábado sabado sábados sabados",
    "sunday sun sundays sonntag sonntags dimanche dimanches domingo domingos",
)
_MONTHS = (
    "january jan januar jänner janvier enero",
    "february feb februar février fevrier fév febrero",
    "march mar märz maerz mrz mars marzo",
    "april apr avril avr abril abr",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet juil julio",
    "august aug août aout agosto",
    "september sep sept septembre septiembre",
    "october oct oktober okt octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember dez décembre decembre diciembre dic",
)
WEEKDAYS = {word: number for number, words in enumerate(_WEEKDAYS) for word in words.split()}
"""Weekday number, Monday 0, of each name."""
MONTHS = {word: number for number, words in enumerate(_MONTHS, start=1) for word in words.split()}
"""Month number, January 1, of each name."""

_NUMBERS = (
    "zero null cero zéro",
    "one a an ein eine einer einem einen un une uno una",
    "two zwei deux dos",
    "three drei trois tres",
    "four vier quatre cuatro",
    "five fünf cinq cinco",
    "six sechs seis",
    "seven sieben sept siete",
    "eight acht huit ocho",
    "nine neun neuf nueve",
    "ten zehn dix diez",
    "eleven elf onze once",
    "twelve zwölf douze doce",
)
NUMBERS = {word: number for number, words in enumerate(_NUMBERS) for word in words.split()}
ORDINALS = {
    word: number
    for number, word in enumerate(
        ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
        start=1,
    )
}
