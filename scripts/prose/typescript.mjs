import ts from 'typescript'
import { helpParagraphs } from './help-text.mjs'
import { wrongInMarkdown } from './markdown.mjs'
import { CODE, COLUMNS_MAX, linesBefore, wrongInParagraph } from './text.mjs'
import { wrapComment } from './wrap.mjs'

/** Every token, in order. */
function* tokensOf(node, file) {
  if (node.kind >= ts.SyntaxKind.FirstJSDocNode && node.kind <= ts.SyntaxKind.LastJSDocNode) return
  const children = node.getChildren(file)
  if (children.length === 0) yield node
  for (const child of children) yield* tokensOf(child, file)
}

/** Ranges of all comments, in order. */
function commentRanges(file) {
  const ranges = new Map()
  for (const token of tokensOf(file, file)) {
    const leading = ts.getLeadingCommentRanges(file.text, token.getFullStart()) ?? []
    for (const range of [...leading, ...(ts.getTrailingCommentRanges(file.text, token.end) ?? [])])
      ranges.set(range.pos, range)
  }
  return [...ranges.values()].sort((a, b) => a.pos - b.pos)
}

const hasModifier = (node, ...kinds) =>
  (ts.canHaveModifiers(node) ? ts.getModifiers(node) : [])?.some(({ kind }) => kinds.includes(kind))

function isHidden(node) {
  if (node.name?.kind === ts.SyntaxKind.PrivateIdentifier) return true
  return hasModifier(node, ts.SyntaxKind.PrivateKeyword, ts.SyntaxKind.ProtectedKeyword)
}

/** Where the JSDoc of what a file exports starts, public members included. */
function exportedDocuments(file) {
  const starts = new Set()
  const named = new Set()
  for (const statement of file.statements)
    if (ts.isExportDeclaration(statement) && statement.moduleSpecifier === undefined)
      for (const { name, propertyName } of statement.exportClause?.elements ?? [])
        named.add((propertyName ?? name).text)
  const visit = (node) => {
    if (isHidden(node) || ts.isBlock(node)) return
    for (const document of node.jsDoc ?? []) starts.add(document.pos)
    ts.forEachChild(node, visit)
  }
  for (const statement of file.statements) {
    const names = ts.isVariableStatement(statement)
      ? statement.declarationList.declarations.map(({ name }) => name.getText(file))
      : [statement.name?.text]
    const isExported = hasModifier(statement, ts.SyntaxKind.ExportKeyword) || names.some((name) => named.has(name))
    if (isExported || ts.isExportDeclaration(statement)) visit(statement)
  }
  return starts
}

/** A comment's text as Markdown, and the line (from the comment's first) that each line of it came from. */
function markdownOf(comment) {
  const inner = comment.startsWith('//') ? comment : comment.replace(/^\/\*+/, '').replace(/\*+\/$/, '')
  const lines = []
  const origins = []
  for (const [index, own] of inner.split('\n').entries()) {
    const line = own.replace(/^\s*(?:\/\/|\*) ?/, '')
    const tag = /^\s*@(?:(?:param|property|typeParam|template)\s+\S+|\w+)\s*(?:-\s+)?(.*)$/.exec(line)
    if (tag !== null) {
      lines.push('', tag[1])
      origins.push(index, index)
    } else {
      lines.push(index === 0 ? line.trimStart() : line)
      origins.push(index)
    }
  }
  const markdown = lines.join('\n').replaceAll(/\{@link\w*\s+([^}|\n]+)(?:\|[^}\n]*)?\}/g, '`$1`')
  return { markdown, origins }
}

/** Comments, those of `//` on lines of their own in a row as one. */
function* commentsOf(file) {
  let open
  for (const { pos, end, kind } of commentRanges(file)) {
    const { line, character } = file.getLineAndCharacterOfPosition(pos)
    const isAlone = file.text.slice(pos - character, pos).trim() === ''
    const isLine = kind === ts.SyntaxKind.SingleLineCommentTrivia && isAlone
    const text = file.text.slice(pos, end)
    if (isLine && open !== undefined && open.nextLine === line) {
      open.text += `\n${text}`
      open.nextLine += 1
      open.end = end
      continue
    }
    if (open !== undefined) yield open
    open = { pos, end, line, character, isAlone, text, nextLine: isLine ? line + 1 : -1 }
  }
  if (open !== undefined) yield open
}

/** Not prose: for a tool, or what a program prints. */
const isDirective = (comment) => /^\/\/ (?:prints |biome-ignore|@ts-)/.test(comment)

function* wrongComments(file, isProse) {
  const exported = exportedDocuments(file)
  for (const { pos, line, text } of commentsOf(file)) {
    if (isDirective(text)) continue
    const { markdown, origins } = markdownOf(text)
    const lengths = isProse || exported.has(pos)
    for (const { line: own, ...wrong } of wrongInMarkdown(markdown, { lengths }))
      yield { line: line + origins[own], ...wrong }
  }
}

function* wideComments(file) {
  const lines = file.text.split('\n')
  const reported = new Set()
  for (const { pos, end } of commentRanges(file)) {
    const last = file.getLineAndCharacterOfPosition(end).line
    for (let line = file.getLineAndCharacterOfPosition(pos).line; line <= last; line += 1) {
      const columns = [...lines[line]].length
      if (columns <= COLUMNS_MAX || reported.has(line)) continue
      reported.add(line)
      yield {
        line,
        rule: `comment to column ${columns}, at most ${COLUMNS_MAX}`,
        text: lines[line].trim().slice(0, 60),
      }
    }
  }
}

/** A string literal as a paragraph; expressions in a template are one word each. */
function literalText(node, file) {
  if (ts.isStringLiteralLike(node)) return { text: node.text, spans: [] }
  const text = node.head.text + node.templateSpans.map(({ literal }) => CODE + literal.text).join('')
  return { text, spans: node.templateSpans.map(({ expression }) => expression.getText(file)) }
}

const isLiteral = (node) => ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)

/** Several words in a row, and not CSS: what the dashboard's page shows. */
const isShown = (text) =>
  /[\p{L}’']{2,}[,:;.]? [\p{L}’']+[,:;.]? [\p{L}’']+/u.test(text) && !/\w:\w|system-ui/.test(text)

/**
 * Literals that people read, and what they are: arguments of `new …Error(…)`, help texts and summaries of commands,
 * texts of the page.
 */
function* messagesOf(file, { isCommand, isPage }) {
  const found = []
  const visit = (node, isMessage) => {
    if (isLiteral(node)) {
      const { text, spans } = literalText(node, file)
      if (isCommand && /^Usage: /.test(text)) found.push({ node, text, spans, kind: 'help' })
      else if (isMessage && text.includes(' ')) found.push({ node, text, spans, kind: 'message' })
      else if (isPage && isShown(text)) found.push({ node, text, spans, kind: 'text' })
    }
    if (ts.isNewExpression(node) && /Error$/.test(node.expression.getText(file)))
      for (const argument of node.arguments ?? []) visit(argument, true)
    else {
      const isSummary = isCommand && ts.isPropertyAssignment(node) && node.name.getText(file) === 'summary'
      const goesOn =
        isMessage &&
        (ts.isConditionalExpression(node) || ts.isBinaryExpression(node) || ts.isParenthesizedExpression(node))
      ts.forEachChild(node, (child) => visit(child, isSummary || goesOn))
    }
  }
  visit(file, false)
  yield* found
}

function* wrongMessages(file, readers) {
  for (const { node, text, spans, kind } of messagesOf(file, readers)) {
    const { line } = file.getLineAndCharacterOfPosition(node.getStart(file))
    let used = 0
    for (const paragraph of kind === 'help' ? helpParagraphs(text) : [{ text, line: 0 }]) {
      const own = spans.slice(used)
      used += paragraph.text.split(CODE).length - 1
      for (const { at, rule, text: shown } of wrongInParagraph(paragraph.text, { spans: own }))
        yield {
          line: line + paragraph.line + linesBefore(paragraph.text, at),
          rule: `${kind}: ${rule}`,
          text: shown,
        }
    }
  }
}

/**
 * What is wrong in the comments and messages of a program. `path` is from the root. In examples/ all comments are
 * prose, elsewhere the JSDoc of exports. In other comments only width and phrases are checked.
 */
export function wrongInTypeScript(text, path) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  return [
    ...wrongComments(file, path.startsWith('examples/')),
    ...wideComments(file),
    ...wrongMessages(file, { isCommand: /^(?:src\/cli|tools)\//.test(path), isPage: path.startsWith('web/') }),
  ].sort((a, b) => a.line - b.line)
}

/** The program with comments wrapped that have a line which is too wide, and stand on lines of their own. */
export function wrapComments(text, path) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  let result = text
  for (const { pos, end, character, isAlone, text: comment } of [...commentsOf(file)].reverse()) {
    const lines = text.slice(pos - character, end).split('\n')
    const isFollowed = !/^\s*(?:\n|$)/.test(text.slice(end))
    if (!isAlone || isFollowed || isDirective(comment) || lines.every((line) => [...line].length <= COLUMNS_MAX))
      continue
    result = result.slice(0, pos) + (wrapComment(comment, character) ?? comment) + result.slice(end)
  }
  return result
}
