/**
 * Phrases that are not English, or not this project's: what to look for, and what to write. `\b` is put around each
 * expression.
 */
const table = [
  ['anew|afresh', 'again'],
  ['of late(?=\\s*[.,;:)])', 'recently'],
  ['so many(?!.*\\bthat\\b)', 'as many'],
  ['so much(?!.*\\b(?:that|as)\\b| for\\b)', 'as much'],
  ["nobody(?:'s|’s)?", 'no one, or the subject that acts'],
  ["somebody(?:'s|’s)?", 'the subject that acts: a process, a rank, the caller'],
  ["anybody(?:'s|’s)?", 'any process, any caller'],
  ["everybody(?:'s|’s)?", 'every process, every caller'],
  ['who(?:so)?ever', 'any process that, a caller that; or: if …'],
  ['of whom', 'whose'],
  ["he|she|him|his|hers|himself|herself|he's|she's", 'it; or: you'],
  ['(?:that|which|who|it|this) (?:is|was) none(?! of)', 'is not a …'],
  ['(?:the|a|its|each|every|their|from|at|very) begin', 'start'],
  ['some(?= \\d)', 'about'],
  ['in turns', 'in turn, alternately'],
  ['there and back', 'round trip'],
  ['needs not|need be', 'does not need to, has to be'],
  ['whereof|wherewith|whereupon|thereof|therein|thereon|thereby|hereby|herein', 'of which, with which, so'],
  ['lest', 'so that … not'],
  ['nought|aught|erelong|betimes|hitherto|heretofore|henceforth', 'plain words: nothing, soon, until now, from now on'],
  ['truthful', 'accurate'],
  ['shared by mistake', 'false sharing'],
  ['(?:one|either|neither|none) of both', 'one, either, neither of the two'],
  ['an other', 'another'],
  ['and be it', 'even if it is'],
  ['of its own accord', 'by itself'],
  ['the dead(?=[.,;:)]| (?:are|is|was|were|had|have|has|may|can|must|do|does)\\b)', 'a process (rank, peer) that died'],
  ['the living(?=[.,;:)]| (?:are|were|have|may|can|must|do)\\b)', 'the live processes (ranks, peers)'],
  ['not worth (?:a|the) while', 'not worth it'],
  ['is no more', 'no longer exists'],
  [
    '(?<!there )is no(?= (?:member|part|failure|error|reason|rank|process|file|number|copy|leader|peer)\\b)',
    'is not a',
  ],
  ['informations|softwares|hardwares|bandwidthes|advices', 'the singular: uncountable'],
]

/** Of a whole sentence. */
const sentenceTable = [
  [/^(?:Who|Whom)\b(?: \S+){4,}[.:;]$/, 'the subject that acts: "A process that …"'],
  [/^(?:Is|Are|Was|Were|Does|Did) (?:the|a|an|it|there|that|this|one|each|no|they)\b.*[.:;]$/, 'If …'],
  [/\p{L}!$/u, 'a full stop: no exclamation marks'],
]

const phrases = table.map(([expression, instead]) => [
  new RegExp(`(?<![\\w-])(?:${expression})(?![\\w-])`, 'gi'),
  instead,
])

/** What was found in a sentence, and what to write instead. */
export function* phrasesIn(sentence) {
  for (const [expression, instead] of phrases)
    for (const [found] of sentence.matchAll(expression)) yield { found: found.trim(), instead }
  for (const [expression, instead] of sentenceTable)
    if (expression.test(sentence)) yield { found: sentence.split(' ').slice(0, 4).join(' '), instead }
}
