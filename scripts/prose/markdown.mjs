import MarkdownIt from 'markdown-it'
import { CODE, linesBefore, wrongInParagraph } from './text.mjs'

const parser = new MarkdownIt({ html: true })

/** A paragraph of inline tokens as text: code spans as `CODE`, lines kept. */
function paragraphOf(tokens) {
  let text = ''
  const spans = []
  for (const { type, content } of tokens) {
    if (type === 'code_inline') {
      text += CODE
      spans.push(content)
    } else if (type === 'softbreak' || type === 'hardbreak') text += '\n'
    else if (type === 'text') text += content
  }
  return { text, spans }
}

/**
 * What is wrong in a Markdown text, as `{ line, rule, text }`; lines count from 0. Headings, heads of tables and code
 * are not prose.
 */
export function* wrongInMarkdown(markdown, { lengths = true } = {}) {
  let line = 0
  let isProse = true
  for (const token of parser.parse(markdown, {})) {
    if (token.map !== null) line = token.map[0]
    if (token.type === 'heading_open' || token.type === 'th_open') isProse = false
    else if (token.type === 'heading_close' || token.type === 'th_close') isProse = true
    if (token.type !== 'inline' || !isProse) continue
    const { text, spans } = paragraphOf(token.children)
    for (const { at, rule, text: shown } of wrongInParagraph(text, { spans, lengths }))
      yield { line: line + linesBefore(text, at), rule, text: shown }
  }
}
