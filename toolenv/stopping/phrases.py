"""Sentences that say STOP in other words: the lenient rule (Appendix F, "equivalent phrasings").

A sentence counts if it claims outright that the tools do not suffice. It does not if the claim hangs on a
condition, is a question or reported speech, or if the sentence goes on to say how the work was done anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TypeAlias

MAX_SCANNED = 200_000
MAX_SENTENCE = 600
"""Characters of a text, and of each of its sentences, that are looked at."""

Span: TypeAlias = tuple[int, int]

# Patterns below are words: a space stands for any white space, <name> for a part defined above it.
_PARTS: dict[str, str] = {
    "tool": r"tools?|toolset|functions?|functionality|APIs?|capabilit(?:y|ies)",
    "any tool": r"tools?|capabilit(?:y|ies)",  # a function may as well be one of a spreadsheet
    "asked": r"required|necessary|needed|requested|appropriate|suitable|relevant|critical|essential"
    r"|corresponding",
    "given": r"available|provided|given|offered|current|existing|listed|supplied|accessible|exposed",
    "word": r"[\w\0'/-]+",
    "words": r"(?:<word> ){0,4}?",
    "article": r"an?|any|the|such",
    "is": r"is|are|was|were",
    "not": r"n't| not",
    # what may stand between a tool and what is said of it
    "aside": r"\s*\([^()]{0,120}\)|,[^,]{1,80},| \0+| (?:for|to|of|that|named|called) [^,.;:]{1,60}?|",
    "beside": r"(?: (?:here|in|this|the|my|your|list|set|toolset|environment|context|currently|<is>|at"
    r"|disposal|among|of|them|these|those|you|I|we|I've|have|has|had|been|to|me|us|<given>|tools?|functions?)\b)*?",
    "absent": r"(?:<is>)(?: \w+ly)?<not>(?: \w+ly)? (?:<given>|present|included|part|among|here|there|in)\b"
    r"|(?:is|are) (?:\w+ly )?(?:unavailable|missing|absent|inaccessible|no longer available)\b"
    r"|(?:has|have)<not> been <given>\b|(?:do|does)<not> exist\b",
    "cannot": r"cannot|can't|can not|could<not>|won't be able to|will not be able to|unable to|not able to"
    r"|(?:not|n't) (?:be )?(?:possible|feasible)|impossible|infeasible|unfeasible|no way to",
    "do not": r"(?:do|does|did|could)<not>|cannot|can't|can not",
    "serves": r"can|could|would|will|lets?|allows?|supports?|provides?|offers?|enables?|covers?|handles?"
    r"|match(?:es)?|fits?|address(?:es)?|performs?|includes?|does|do|has|have",
    "serve": r"support|allow|include|provide|cover|let|offer|have|enable|handle|contain|match|permit|perform"
    r"|do|help|fulfil|fulfill|address|give",
    "able": r"able|suitable|capable|applicable|relevant|appropriate|sufficient|designed|related|for",
    "there is no": r"there(?:'s|'re| is| are) (?:currently )?(?:no|not an?|not any)"
    r"|there\s*(?:is|are)<not> (?:an?|any)|no",
    "I lack": r"(?:I|we) (?:currently )?(?:have|see|find|was given|were given|have been given) no"
    r"|(?:I|we) (?:currently )?(?:do|did|was|were|am|have)<not> (?:currently )?"
    r"(?:have|see|find|given|been given|provided with|equipped with) (?:access to )?(?:<article>)"
    r"|(?:I|we) (?:currently )?lack (?:access to )?(?:<article>)",
    "our tools": r"(?:the|this|these|those|my|only) (?:(?:set of|\w+ly|<given>) ){1,4}<tool>"
    r"|(?:my|these|those) <tool>"
    r"|(?:the )?(?:\w+ )?<tool> (?:(?:that )?(?:I|we) (?:have|was|were|am)|at (?:my|hand)"
    r"|(?:\w+ly )?<given>)",
    "not another word": r"(?=\s*[,;:)]|\s*\Z"
    r"| (?:to|for|that|which|<given>|here|capable|with|in|at|<asked>|so|and)\b)",
}

_CLAIM_PATTERNS = (
    # "the required tool is not available", "the tool needed for this does not exist"
    r"\b<asked> <words><tool>\b<aside> <absent>",
    r"\b<tool> (?:(?:that|which) (?:is|are) )?<asked>\b<aside> <absent>",
    r"\b(?:missing|lacking) (?:<article> )?<asked> <words><tool>\b",
    r"\b(?:the|an?) capabilit(?:y|ies)\b<aside> <absent>",
    r"\b(?:requires?|needs?) <article> <words><any tool> (?:(?:that|which) )?"
    r"(?:<absent>|(?:I|we) (?:<do not> have|lack)\b)",
    # "the refund tool is not available, so I can't …", "I can't … because the refund tool is missing"
    r"\b<any tool>\b<aside> <absent>[^?]{0,160}?\b(?:<cannot>|end(?:ing)? here|stop(?:ping)?)\b",
    r"\b<cannot>\b[^?]{0,160}?\b(?:because|since|as|due to)\b[^?]{0,80}?\b<tool>\b<aside> <absent>",
    # "this task cannot be completed with the available tools", "… without a refund tool"
    r"\b<cannot>\b[^?]{0,200}?\b(?:with|using|given|from|by|via|through) (?:only |just )?<our tools>\b",
    r"\b(?:with|using|given) (?:only |just )?<our tools>\b[^?]{0,120}?\b<cannot>\b",
    r"\b<cannot>\b[^?]{0,200}?\bwithout (?:access to )?<article> <words><tool><not another word>",
    # "there is no tool for refunds, so I can't …", "there is no tool here that can …"
    r"\b<there is no> (?!need\b)<words><any tool>\b[^?]{0,120}?\b<cannot>\b",
    r"\b<cannot>\b[^?]{0,160}?\b<there is no> (?!need\b)<words><tool><not another word>",
    r"\b<there is no> (?!single\b|one\b|need\b)<words><any tool><beside>"
    r" (?:(?:that|which) <serves>|capable|<given>|exists?)\b",
    r"\b<there is no> (?!single\b|one\b|need\b)<words><tool> (?:(?:is|are) )?(?:here|(?:\w+ly )?<given>)"
    r"<beside> (?:that|which|to|for|capable|<serves>)\b",
    r"\b<there is no> <given> <tool> (?:that |which )?<serves>\b",
    # "none of the functions I was given lets me …"
    r"\bnone of (?:the|my|your|these|those) (?:(?:\w+ly|<given>) ){0,3}<tool><beside>"
    r" (?:<serves>|(?:<is>|seems?|appears?)(?: to be)? <able>)\b",
    # "I don't have a tool to …", "I lack the tools needed"
    r"\b<I lack> <words><tool><not another word>",
    # "the available tools do not support …", "my tools are not sufficient"
    r"\b<our tools><beside> <do not> (?:\w+ly )?(?:<serve>|be used)\b",
    r"\b<our tools> (?:are|is)(?: insufficient| inadequate|<not> (?:sufficient|enough|suitable|adequate))\b",
    # "Final answer: STOP: no refund tool"
    r"\A\W*(?:(?:my|the) )?(?:final )?(?:answer|response|decision|verdict|output|reply|assistant|feasibility)"
    r"[:*_-]{1,6}\s*[*_]{0,3}STOP\s*[*_]{0,3}:",
)
_HANGS_ON_PATTERN = (
    r"\b(?:if|unless|whether|in case|when(?:ever)?|suppose|supposing|assum\w+|until|once|earlier|previously"
    r"|initially|at first|returned|replied|responded|says?|said|reads|states|stated|titled"
    r"|reported|claim(?:s|ed)|not (?:true|the case|correct)|(?:do|does)<not> mean)\b"
    r"|\b(?:although|though|while|despite|whereas) (?:\w+ ){0,2}\Z"
)
_DONE_ANYWAY_PATTERN = (
    r"\b(?:I|we)(?:'ve)? (?:have )?(?:successfully|instead|used|combined|worked around|managed|computed"
    r"|calculated|estimated|copied|completed|wrote|found|looked up|relied|was able|were able)\b"
    r"|\bbut (?:it|they|that)(?:'s|'re| is| are) now\b|\binstead\s*, I\b"
    r"|\b(?:but|however,?) (?:the|your|here|this is|it is|it's|based|from|fortunately|luckily)\b"
)


@cache  # on first use: at import it would be felt
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(_expanded(pattern).replace(" ", r"\s+"), re.IGNORECASE | re.ASCII)


def _expanded(pattern: str) -> str:
    return re.sub(r"<([\w ]+)>", lambda part: f"(?:{_expanded(_PARTS[part[1]])})", pattern)


_BARE_STOP = re.compile(r"\A[\s*_#]*(STOP)[\s*_.!]*\Z", re.ASCII)
_SUBJECT = re.compile(r"tool|function|api|capabilit|stop", re.IGNORECASE)
_DENIAL = re.compile(
    r"n't|\bno[nt]?|stop|cannot|lack|una|impossible|feasible|missing|absent|ina|insufficient",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(
    r"[.!?。！？]+(?=[\s\0)*_\]]|\Z)|\n[ \t]*\n|\n(?=[ \t]*(?:[-*+•#|]|\d{1,3}[.)])[ \t])|\Z", re.ASCII
)


def find_phrase(words: str) -> Span | None:
    """The first such claim.

    Args:
        words: an assistant's own words, the rest blanked out (:func:`toolenv.stopping.own_words.own_words`).

    Returns:
        Where it stands, or ``None``.
    """
    if len(words) <= MAX_SENTENCE and (bare := _BARE_STOP.match(words)):
        return bare.span(1)
    return next((claim for span in _sentences(words[:MAX_SCANNED]) if (claim := _claim(words, span))), None)


def _sentences(words: str) -> Iterator[Span]:
    """Where sentences stand; no questions, and none without the words that every claim has."""
    start = 0
    for end in _SENTENCE_END.finditer(words):
        stop = min(end.start(), start + MAX_SENTENCE)
        needed = (_SUBJECT, _DENIAL)
        if "?" not in end[0] and all(word.search(words, start, stop) for word in needed):
            yield start, stop
        start = end.end()


def _claim(words: str, sentence: Span) -> Span | None:
    start, stop = sentence
    said = words[start:stop].replace("*", " ")
    matches = (_compiled(pattern).search(said) for pattern in _CLAIM_PATTERNS)
    found = min((match.span() for match in matches if match), default=None)
    if found is None:
        return None
    if _compiled(_HANGS_ON_PATTERN).search(said, 0, found[0]) or _compiled(_DONE_ANYWAY_PATTERN).search(said):
        return None
    return start + found[0], start + found[1]
