"""APIs that upstream answers from the network (APIS.md 5.15): here from recordings, else not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from envs_registry.api_bank.registry import api
from envs_registry.api_bank.rules import NAMED, OUTCOME, Result, argument, every
from envs_registry.api_bank.state import Failure, NoRecordedResponse, State

LANGUAGES: Final = dict(
    line.split(" ", 1)
    for line in """\
af afrikaans
sq albanian
am amharic
ar arabic
hy armenian
az azerbaijani
eu basque
be belarusian
bn bengali
bs bosnian
bg bulgarian
ca catalan
ceb cebuano
ny chichewa
zh-cn chinese (simplified)
zh-tw chinese (traditional)
co corsican
hr croatian
cs czech
da danish
nl dutch
en english
eo esperanto
et estonian
tl filipino
fi finnish
fr french
fy frisian
gl galician
ka georgian
de german
el greek
gu gujarati
ht haitian creole
ha hausa
haw hawaiian
iw hebrew
he hebrew
hi hindi
hmn hmong
hu hungarian
is icelandic
ig igbo
id indonesian
ga irish
it italian
ja japanese
jw javanese
kn kannada
kk kazakh
km khmer
ko korean
ku kurdish (kurmanji)
ky kyrgyz
lo lao
la latin
lv latvian
lt lithuanian
lb luxembourgish
mk macedonian
mg malagasy
ms malay
ml malayalam
mt maltese
mi maori
mr marathi
mn mongolian
my myanmar (burmese)
ne nepali
no norwegian
or odia
ps pashto
fa persian
pl polish
pt portuguese
pa punjabi
ro romanian
ru russian
sm samoan
gd scots gaelic
sr serbian
st sesotho
sn shona
sd sindhi
si sinhala
sk slovak
sl slovenian
so somali
es spanish
su sundanese
sw swahili
sv swedish
tg tajik
ta tamil
te telugu
th thai
tr turkish
uk ukrainian
ur urdu
ug uyghur
uz uzbek
vi vietnamese
cy welsh
xh xhosa
yi yiddish
yo yoruba
zu zulu""".splitlines()
)
"""Code → name of every language the translator knows, in its order."""


def dictionary_request(keyword: Any) -> tuple[str, ...]:
    """What the dictionary is asked for a keyword."""
    return ("Dictionary", keyword.replace("_", " ").strip().lower())


def translate_request(src: Any, src_lang: Any = None, tgt_lang: Any = None) -> tuple[str, ...]:
    """What the translator is asked; the source language is left to it where none is named."""
    source = "" if src_lang is None else _language(src_lang)
    return ("Translate", src, source, _language("en" if tgt_lang is None else tgt_lang))


def _language(wanted: Any) -> str:
    text = wanted.lower()
    if "chinese" in text:
        return "zh-tw" if "traditional" in text else "zh-cn"
    for code, name in LANGUAGES.items():
        if text == code or name in text:
            return code
    raise Failure("Language not supported.")


REQUESTS: Final[Mapping[str, Callable[..., tuple[str, ...]]]] = {
    "Dictionary": dictionary_request,
    "Translate": translate_request,
}
"""How the arguments of each of these APIs become a request."""


def _dictionary_itself(tested: Result, recorded: Result) -> bool:
    return bool(tested["api_name"] == "Dictionary")


@api("Dictionary", every(_dictionary_itself, OUTCOME), from_web=True)
def dictionary(state: State, keyword: Any) -> Any:
    """The meanings of a word."""
    return _answer(state, dictionary_request(keyword))


@api("Translate", every(NAMED, argument("src"), OUTCOME), from_web=True)
def translate(state: State, **arguments: Any) -> Any:
    """A text in another language."""
    return _answer(state, translate_request(**arguments))


def _answer(state: State, request: tuple[str, ...]) -> Any:
    if request not in state.web:
        raise NoRecordedResponse(f"There is no recorded response to this request of {request[0]}.")
    return state.web[request]
