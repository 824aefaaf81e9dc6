"""Sentences that say STOP in other words: the lenient rule (Appendix F, "equivalent phrasings").

A sentence counts if it claims outright that the tools do not suffice. It does not if the claim hangs on a
condition, is a question or reported speech, or if the sentence goes on to say how the work was done anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

MAX_SCANNED = 200_000
MAX_SENTENCE = 600
"""Characters of a text, and of each of its sentences, that are looked at."""

Span: TypeAlias = tuple[int, int]

_TOOL = r"(?:tools?|toolset|functions?|functionality|APIs?|capabilit(?:y|ies))"
_ASKED = r"(?:required|necessary|needed|requested|appropriate|suitable|relevant|critical|essential|corresponding)"
_GIVEN = r"(?:available|provided|given|offered|current|existing|listed|supplied|accessible|exposed)"
_WORD = r"[\w\0'/-]+\s+"
# What may stand between a tool and what is said of it.
_ASIDE = r"(?:\s*\([^()]{0,120}\)|,[^,]{1,80},|\s+\0+|\s+(?:for|to|of|that|named|called)\s+[^,.;:]{1,60}?)?"
_BESIDE = (
    r"(?:\s+(?:here|in|this|the|my|your|list|set|toolset|environment|context|currently|is|are|was|were|at|"
    r"disposal|among|of|them|these|those|you|I|we|I've|have|has|had|been|to|me|us|available|provided|given|"
    r"offered|listed|supplied|accessible|tools?|functions?)\b)*?"
)
_ABSENT = (
    rf"(?:(?:is|are|was|were)(?:\s+\w+ly)?(?:n't|\s+not)(?:\s+\w+ly)?\s+(?:{_GIVEN}|present|included|part|among|here|there|in)"
    r"|(?:is|are)\s+(?:\w+ly\s+)?(?:unavailable|missing|absent|inaccessible)"
    rf"|(?:has|have)(?:n't|\s+not)\s+been\s+{_GIVEN}|(?:do|does)(?:n't|\s+not)\s+exist)\b"
)
_CANNOT = (
    r"(?:cannot|can't|can\s+not|could(?:n't|\s+not)|(?:won't|will\s+not)\s+be\s+able\s+to|unable\s+to|not\s+able\s+to"
    r"|(?:not|n't)\s+(?:be\s+)?(?:possible|feasible)|impossible|infeasible|unfeasible|no\s+way\s+to)"
)
_DO_NOT = r"(?:(?:do|does|did|could)(?:n't|\s+not)|cannot|can't|can\s+not)"
_SERVES = (
    r"(?:can|could|would|will|lets?|allows?|supports?|provides?|offers?|enables?|covers?|handles?|match(?:es)?|fits?|"
    r"address(?:es)?|performs?|includes?|does|do|has|have)"
)
_NONE = r"(?:there(?:'s|'re|\s+is|\s+are)\s+(?:currently\s+)?(?:no|not\s+any?)|there\s*(?:is|are)(?:n't|\s+not)\s+any?|no)"
_I_LACK = (
    r"(?:(?:I|we)\s+(?:currently\s+)?(?:have|see|find|was\s+given|were\s+given|have\s+been\s+given)\s+no"
    r"|(?:I|we)\s+(?:currently\s+)?(?:do|did|was|were|am|have)(?:n't|\s+not)\s+(?:currently\s+)?"
    r"(?:have|see|find|given|been\s+given|provided\s+with|equipped\s+with)\s+(?:access\s+to\s+)?(?:any?|the|such)"
    r"|(?:I|we)\s+(?:currently\s+)?lack\s+(?:access\s+to\s+)?(?:any?|the))"
)
_OUR_TOOLS = (
    rf"(?:(?:the|this|these|those|my|only)\s+(?:(?:set\s+of|\w+ly|{_GIVEN})\s+){{1,4}}{_TOOL}"
    rf"|(?:my|these|those)\s+{_TOOL}"
    rf"|(?:the\s+)?(?:\w+\s+)?{_TOOL}\s+(?:(?:that\s+)?(?:I|we)\s+(?:have|was|were|am)|at\s+(?:my|hand)|(?:\w+ly\s+)?{_GIVEN}))"
)


def _rules(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE | re.ASCII) for pattern in patterns)


_CLAIMS = _rules(
    # "the required tool is not available", "the tool needed for this does not exist"
    rf"\b{_ASKED}\s+(?:{_WORD}){{0,3}}?{_TOOL}\b{_ASIDE}\s+{_ABSENT}",
    rf"\b{_TOOL}\s+(?:(?:that|which)\s+(?:is|are)\s+)?{_ASKED}\b{_ASIDE}\s+{_ABSENT}",
    rf"\b(?:missing|lacking)\s+(?:any?\s+|the\s+)?{_ASKED}\s+(?:{_WORD}){{0,3}}?{_TOOL}\b",
    # "the refund tool is not available, so I can't …", "I can't … because the refund tool is missing"
    rf"\b(?:tools?|capabilit(?:y|ies))\b{_ASIDE}\s+{_ABSENT}[^?]{{0,160}}?\b(?:{_CANNOT}|end(?:ing)?\s+here|stop(?:ping)?)\b",
    rf"\b{_CANNOT}\b[^?]{{0,160}}?\b(?:because|since|as|due\s+to)\b[^?]{{0,80}}?\btools?\b{_ASIDE}\s+{_ABSENT}",
    # "this task cannot be completed with the available tools", "… without a refund tool"
    rf"\b{_CANNOT}\b[^?]{{0,200}}?\b(?:with|using|given|from|via|through|by)\s+(?:only\s+|just\s+)?{_OUR_TOOLS}\b",
    rf"\b(?:with|using|given)\s+(?:only\s+|just\s+)?{_OUR_TOOLS}\b[^?]{{0,120}}?\b{_CANNOT}\b",
    rf"\b{_CANNOT}\b[^?]{{0,200}}?\bwithout\s+(?:access\s+to\s+)?(?:any?|the|such)\s+(?:{_WORD}){{0,4}}?(?:tool|function)s?\b",
    # "there is no tool here that can …", "no tool is available", "none of the functions I was given lets me …"
    rf"\b{_NONE}\s+(?!single\b|one\b|need\b)(?:{_WORD}){{0,4}}?(?:tools?|capabilit(?:y|ies)){_BESIDE}\s+"
    rf"(?:(?:that|which)\s+{_SERVES}|{_SERVES}|capable|{_GIVEN}|exists?)\b",
    rf"\b{_NONE}\s+(?!single\b|one\b|need\b)(?:{_WORD}){{0,4}}?{_TOOL}\s+(?:here|(?:\w+ly\s+)?{_GIVEN}){_BESIDE}\s+"
    rf"(?:that|which|to|for|{_SERVES}|capable)\b",
    rf"\b{_NONE}\s+{_GIVEN}\s+{_TOOL}\s+(?:that\s+|which\s+)?{_SERVES}\b",
    rf"\bnone\s+of\s+(?:the|my|your|these|those)\s+(?:(?:\w+ly|{_GIVEN})\s+){{0,3}}{_TOOL}{_BESIDE}\s+"
    rf"(?:{_SERVES}|(?:is|are|was|were|seems?|appears?)(?:\s+to\s+be)?\s+(?:able|suitable|capable|applicable|relevant|"
    r"appropriate|sufficient|designed|related|for))\b",
    # "I don't have a tool to …", "I lack the tools needed"
    rf"\b{_I_LACK}\s+(?:{_WORD}){{0,4}}?{_TOOL}(?=\s+(?:to|for|that|which|{_GIVEN}|here|capable|with|in|at|{_ASKED}|so|and)\b"
    r"|\s*[,;:)]|\s*\Z)",
    # "the available tools do not support …", "my tools are not sufficient"
    rf"\b{_OUR_TOOLS}{_BESIDE}\s+{_DO_NOT}\s+(?:\w+ly\s+)?(?:support|allow|include|provide|cover|let|offer|have|enable|"
    r"handle|contain|match|permit|perform|do|help|fulfil|fulfill|address|give)\b",
    rf"\b{_OUR_TOOLS}\s+(?:are|is)(?:\s+(?:insufficient|inadequate)|(?:n't|\s+not)\s+(?:sufficient|enough|suitable|adequate))\b",
    # "Final answer: STOP: no refund tool"
    r"\A\W*(?:(?:my|the)\s+)?(?:final\s+)?(?:answer|response|decision|verdict|output|reply|assistant|feasibility)"
    r"[ \t:*_-]{1,6}STOP[ \t]*[*_]{0,3}:",
)
_BARE_STOP = re.compile(r"\A[\s*_#]*(STOP)[\s*_.!]*\Z", re.ASCII)

_HANGS_ON = re.compile(
    r"\b(?:if|unless|whether|in\s+case|when(?:ever)?|suppose|supposing|assum\w+|until|once|earlier|previously|initially|"
    r"at\s+first|returned|replied|responded|says?|said|reads|states|stated|titled|reported|claim(?:s|ed)|"
    r"not\s+(?:true|the\s+case|correct)|(?:do|does)(?:n't|\s+not)\s+mean|no\s+longer)\b"
    r"|\b(?:although|though|while|despite|whereas)\s+(?:\w+\s+){0,2}\Z",
    re.IGNORECASE | re.ASCII,
)
_DONE_ANYWAY = re.compile(
    r"\b(?:I|we)(?:'ve)?\s+(?:have\s+)?(?:successfully|instead|used|combined|worked\s+around|managed|computed|calculated|"
    r"estimated|copied|completed|wrote|found|looked\s+up|relied|was\s+able|were\s+able)\b"
    r"|\bbut\s+(?:it|they|that)\s+(?:is|are)\s+now\b|\binstead\s*,\s*I\b"
    r"|\b(?:but|however,?)\s+(?:the|your|here|this\s+is|it\s+is|it's|based|from|fortunately|luckily)\b",
    re.IGNORECASE | re.ASCII,
)

_SENTENCE_END = re.compile(
    r"[.!?。！？]+(?=[\s\0)*_\]]|\Z)|\n[ \t]*\n|\n(?=[ \t]*(?:[-*+•#|]|\d{1,3}[.)])[ \t])|\0(?=\n)|\Z", re.ASCII
)
_NEEDED_WORD = re.compile(r"tool|function|api|capabilit|stop", re.IGNORECASE)


def find_phrase(words: str) -> Span | None:
    """The first such claim.

    Args:
        words: an assistant's own words, the rest blanked out (:func:`toolenv.stopping.own_words.own_words`).

    Returns:
        Where it stands, or ``None``.
    """
    if bare := _BARE_STOP.match(words[:MAX_SENTENCE]):
        return bare.span(1) if len(words) <= MAX_SENTENCE else None
    return next((claim for span in _sentences(words[:MAX_SCANNED]) if (claim := _claim(words, span))), None)


def _sentences(words: str) -> Iterator[Span]:
    """Where sentences stand; no questions, and none without a word that every claim has."""
    start = 0
    for end in _SENTENCE_END.finditer(words):
        stop = min(end.start(), start + MAX_SENTENCE)
        if "?" not in end[0] and _NEEDED_WORD.search(words, start, stop):
            yield start, stop
        start = end.end()


def _claim(words: str, sentence: Span) -> Span | None:
    start, stop = sentence
    said = words[start:stop].replace("*", " ")
    found = min((match.span() for rule in _CLAIMS if (match := rule.search(said))), default=None)
    if found is None or _HANGS_ON.search(said, 0, found[0]) or _DONE_ANYWAY.search(said):
        return None
    return start + found[0], start + found[1]
