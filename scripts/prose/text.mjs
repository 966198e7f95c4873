import { phrasesIn } from './phrases.mjs'

export const WORDS_MAX = 25
/** Five lines of 120 columns. */
export const PARAGRAPH_CHARACTERS_MAX = 600

/** Stands for a code span while sentences are counted: one word, which may begin a sentence. */
export const CODE = '\uE000'

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })
/** What ends with a full stop and does not end a sentence. */
const ABBREVIATIONS = /\b(?:e\.g|i\.e|vs|cf|etc|approx|no|fig|incl|resp)\.(?=\s+[^A-Z])/gi

/** Sentences of a text and where each starts. */
function* sentences(text) {
  // A letter for each code span, so that one after a full stop begins a sentence; same lengths, so that offsets hold.
  const plain = text
    .replaceAll(/\s/g, ' ')
    .replaceAll(CODE, 'C')
    .replaceAll(ABBREVIATIONS, (found) => found.replaceAll('.', '_'))
  for (const { segment, index } of segmenter.segment(plain)) {
    const own = text.slice(index, index + segment.length)
    if (own.trim() !== '') yield { text: own.trim(), at: index + own.length - own.trimStart().length }
  }
}

const wordsIn = (sentence) => sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}\uE000]/u.test(word)).length

/**
 * What is wrong with a paragraph: `{ at, rule, text }`, `at` an offset into it. Code spans are `CODE`; `spans` has what stood there, in order.
 */
export function* wrongInParagraph(paragraph, spans = []) {
  const inFull = (text, before) => {
    let next = [...paragraph.slice(0, before)].filter((character) => character === CODE).length
    return text.replaceAll(CODE, () => `\`${spans[next++] ?? '…'}\``).replaceAll(/\s+/g, ' ')
  }
  const length = inFull(paragraph, 0).length
  if (length > PARAGRAPH_CHARACTERS_MAX)
    yield {
      at: 0,
      rule: `paragraph of ${length} characters, at most ${PARAGRAPH_CHARACTERS_MAX}`,
      text: inFull(paragraph.slice(0, 60), 0),
    }
  for (const { text, at } of sentences(paragraph)) {
    const words = wordsIn(text)
    if (words > WORDS_MAX)
      yield { at, rule: `sentence of ${words} words, at most ${WORDS_MAX}`, text: inFull(text, at) }
    yield* wrongPhrases(text, at, inFull)
  }
}

export function* wrongPhrases(text, at = 0, inFull = (plain) => plain.replaceAll(/\s+/g, ' ')) {
  for (const [found, instead] of phrasesIn(text.replaceAll(/\s/g, ' ')))
    yield { at, rule: `“${found}”: write ${instead}`, text: inFull(text, at) }
}
