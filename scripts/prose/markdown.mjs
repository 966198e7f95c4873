import MarkdownIt from 'markdown-it'
import { CODE, wrongInParagraph } from './text.mjs'

const parser = new MarkdownIt({ html: true })

/** A paragraph of inline tokens as text: code spans as `CODE`, lines kept. */
function paragraphOf(tokens) {
  let text = ''
  const spans = []
  for (const token of tokens) {
    if (token.type === 'code_inline') {
      text += CODE
      spans.push(token.content)
    } else if (token.type === 'softbreak' || token.type === 'hardbreak') text += '\n'
    else if (token.type === 'text') text += token.content
  }
  return { text, spans }
}

/** What is wrong in a Markdown text: `{ line, rule, text }`, counted from 0. Headings, heads of tables and code are not prose. */
export function* wrongInMarkdown(markdown) {
  let line = 0
  let isProse = true
  for (const token of parser.parse(markdown, {})) {
    if (token.map !== null) line = token.map[0]
    if (token.type === 'heading_open' || token.type === 'th_open') isProse = false
    else if (token.type === 'heading_close' || token.type === 'th_close') isProse = true
    if (token.type !== 'inline' || !isProse) continue
    const { text, spans } = paragraphOf(token.children)
    for (const { at, ...wrong } of wrongInParagraph(text, spans))
      yield { line: line + (text.slice(0, at).match(/\n/g)?.length ?? 0), ...wrong }
  }
}
