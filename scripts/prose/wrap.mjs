import { COLUMNS_MAX } from './text.mjs'

const columnsOf = (line) => [...line].length
/** Drawn or aligned, rather than written: left as it is. */
const isDrawn = (line) => /^\s*[|>#]|\S {3,}\S|[─│┌┐└┘►◄▼▲]/.test(line)
/** Would be read as the start of something else at the start of a line. */
const isMark = (word) => /^(?:[-*+|]|\d+[.)]|#+|@\w.*|```.*)$/.test(word)

/** Words of a text; code spans and links in one piece. */
const wordsOf = (text) => text.match(/(?:`[^`]*`|\{@\w+[^}]*\}|\S)+/g) ?? []

/** Lines of at most `width` columns; `first` and `rest` are put in front of them. */
function filled(text, width, first, rest) {
  const lines = [first]
  let isStart = true
  for (const word of wordsOf(text)) {
    const line = lines.at(-1)
    if (isStart) lines[lines.length - 1] = line + word
    else if (columnsOf(line) + 1 + columnsOf(word) <= width || isMark(word)) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(rest + word)
    isStart = false
  }
  return lines
}

/** Lines of a comment's text, paragraphs with a line that is too wide filled again. */
export function wrapped(lines, width) {
  const result = []
  let paragraph = []
  let isFenced = false
  const flush = () => {
    const tooWide = paragraph.some((line) => columnsOf(line) > width)
    if (!tooWide || paragraph.some(isDrawn)) result.push(...paragraph)
    else {
      const [, first] = /^(\s*(?:(?:[-*]|\d+\.)\s+)?)/.exec(paragraph[0])
      const text = paragraph
        .map((line) => line.trim())
        .join(' ')
        .slice(first.trim().length)
        .trim()
      result.push(...filled(text, width, first, ' '.repeat(first.length)))
    }
    paragraph = []
  }
  for (const line of lines) {
    const isFence = /^\s*```/.test(line)
    if (isFence) isFenced = !isFenced
    if (isFence || isFenced || line.trim() === '') {
      flush()
      result.push(line)
      continue
    }
    if (/^\s*(?:[-*]|\d+\.)\s|^\s*@\w/.test(line)) flush()
    paragraph.push(line)
  }
  flush()
  return result
}

/** A block comment, or lines of `//`, at column `indent`; undefined where it is of another kind. */
export function wrapComment(text, indent) {
  const margin = ' '.repeat(indent)
  if (text.startsWith('//')) {
    const lines = text.split('\n').map((line) => line.trim().replace(/^\/\/ ?/, ''))
    return wrapped(lines, COLUMNS_MAX - indent - 3)
      .map((line) => `// ${line}`.trimEnd())
      .join(`\n${margin}`)
  }
  if (!text.startsWith('/**')) return undefined
  const inner = text.slice(3, -2).split('\n')
  const own = inner.map((line, index) => (index === 0 ? line.trim() : line.replace(/^\s*\* ?/, '').trimEnd()))
  if (own.length > 1 && own[0] === '') own.shift()
  if (own.at(-1).trim() === '') own.pop()
  const lines = wrapped(own, COLUMNS_MAX - indent - 3)
  return ['/**', ...lines.map((line) => ` * ${line}`.trimEnd()), ' */'].join(`\n${margin}`)
}
