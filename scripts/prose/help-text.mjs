/**
 * Paragraphs of a `--help` text, as `{ text, line }`. An item of a list is a paragraph, and so is an entry of a table,
 * without its term. Commands to type are left out.
 */
export function helpParagraphs(help) {
  const paragraphs = []
  let isOpen = false
  let indentation = 0
  for (const [line, own] of help.split('\n').entries()) {
    const entry =
      /^ *- (\S.*)$/.exec(own) ??
      /^ *\S(?:.*?\S)? {2,}(\S.*)$/.exec(own) ??
      /^ +--?[a-z-]+(?: [A-Z]+)? ?(.*)$/.exec(own)
    const column = own.search(/\S/)
    const isCommand = /^ *(?:Usage: |aether |npx |node |[\w./]+\.js)/.test(own)
    if (own.trim() === '' || isCommand) isOpen = false
    else if (isOpen && entry === null && column >= indentation) paragraphs.at(-1).text += `\n${own.trim()}`
    else {
      paragraphs.push({ text: entry?.[1] ?? own.trim(), line })
      isOpen = true
      indentation = column
    }
  }
  return paragraphs
}
