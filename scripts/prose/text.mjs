import { phrasesIn } from './phrases.mjs'

export const WORDS_MAX = 25
/** Five lines of 120 columns. */
export const PARAGRAPH_CHARACTERS_MAX = 600

/** Stands for a code span while sentences are counted: one word, which may begin a sentence. */
export const CODE = '\uE000'

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })
/** What ends with a full stop and does not end a sentence. */
const abbreviations = /\b(?:e\.g|i\.e|vs|cf|etc|approx|no|fig|incl|resp)\.(?=\s+[^A-Z])/gi

/** Sentences of a text and where each starts. */
function* sentences(text) {
  // Newlines end sentences for the segmenter, and a sentence starts with a letter. Lengths are kept, so that offsets
  // hold.
  const plain = text
    .replaceAll(/\s/g, ' ')
    .replaceAll(CODE, 'C')
    .replaceAll(abbreviations, (found) => found.replaceAll('.', '_'))
  for (const { segment, index } of segmenter.segment(plain)) {
    const own = text.slice(index, index + segment.length)
    if (own.trim() !== '') yield { text: own.trim(), at: index + own.length - own.trimStart().length }
  }
}

const wordsIn = (sentence) => sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}\uE000]/u.test(word)).length

/**
 * What is wrong with a paragraph, as `{ at, rule, text }`; `at` is an offset into it. Code spans are `CODE` there, and
 * `spans` has their contents. With `lengths: false` only phrases are looked for.
 */
export function* wrongInParagraph(paragraph, { spans = [], lengths = true } = {}) {
  const readable = (text, from = 0) => {
    let next = paragraph.slice(0, from).split(CODE).length - 1
    return text.replaceAll(CODE, () => `\`${spans[next++]}\``).replaceAll(/\s+/g, ' ')
  }
  const characters = readable(paragraph).length
  if (lengths && characters > PARAGRAPH_CHARACTERS_MAX) {
    const rule = `paragraph of ${characters} characters, at most ${PARAGRAPH_CHARACTERS_MAX}`
    yield { at: 0, rule, text: readable(paragraph.slice(0, 60)) }
  }
  for (const { text, at } of sentences(paragraph)) {
    const words = wordsIn(text)
    if (lengths && words > WORDS_MAX)
      yield { at, rule: `sentence of ${words} words, at most ${WORDS_MAX}`, text: readable(text, at) }
    for (const { found, instead } of phrasesIn(text.replaceAll(/\s/g, ' ')))
      yield { at, rule: `"${readable(found, at)}", write ${instead}`, text: readable(text, at) }
  }
}

/** How many lines end before an offset. */
export const linesBefore = (text, offset) => text.slice(0, offset).split('\n').length - 1
