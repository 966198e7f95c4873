/**
 * The rules of the source for which Biome and oxlint have none: `node scripts/lint-source.mjs`.
 *
 * - A line of a comment has at most 120 columns, in TypeScript, scripts of Node.js and of shells, and C++.
 * - A step of one that nobody reads is written `index += 1`; `++` and `--` are left for where their value is used.
 * - No two files of src/, tools/ and web/ export a class of one name.
 *
 * Prints `file:line: what is wrong` and exits with 1 if there is any.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const COLUMNS_MAX = 120
const root = process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url))

/** Lines that are nothing but comment, and are too long. */
function* longComments(lines, comment) {
  for (const [index, line] of lines.entries())
    if (line.length > COLUMNS_MAX && comment.test(line))
      yield [index + 1, `a comment of ${line.length} columns (at most ${COLUMNS_MAX})`]
}

const steps = new Set([ts.SyntaxKind.PlusPlusToken, ts.SyntaxKind.MinusMinusToken])
const isStep = (node) =>
  (ts.isPostfixUnaryExpression(node) || ts.isPrefixUnaryExpression(node)) && steps.has(node.operator)
const isUnread = (node) =>
  ts.isExpressionStatement(node.parent) || (ts.isForStatement(node.parent) && node.parent.incrementor === node)

function unreadSteps(path, text) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const found = []
  const visit = (node) => {
    if (isStep(node) && isUnread(node)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source))
      found.push([line + 1, `\`${node.getText(source)}\` is written with += 1 or -= 1`])
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

const patterns = ['*.ts', '*.mjs', '*.cjs', '*.cc', '*.h', '*.sh', '.ci/run']
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--', ...patterns], {
  cwd: root,
  encoding: 'utf8',
})
let count = 0
/** Name of an exported class -> where it is. */
const classes = new Map()
for (const path of files.split('\n').filter(Boolean)) {
  const text = readFileSync(`${root}/${path}`, 'utf8')
  const isShell = /\.sh$|^\.ci\/run$/.test(path)
  const isScript = !isShell && !/\.(cc|h)$/.test(path)
  const found = [
    ...longComments(text.split('\n'), isShell ? /^\s*#/ : /^\s*(\/\/|\/?\*)/),
    ...(isScript && /\+\+|--/.test(text) ? unreadSteps(path, text) : []),
  ]
  if (/^(src|tools|web)\//.test(path))
    for (const [index, line] of text.split('\n').entries()) {
      const name = /^export (?:abstract )?class (\w+)/.exec(line)?.[1]
      if (name === undefined) continue
      if (classes.has(name)) found.push([index + 1, `class ${name} is also exported by ${classes.get(name)}`])
      classes.set(name, path)
    }
  for (const [line, message] of found) console.error(`${path}:${line}: ${message}`)
  count += found.length
}
process.exit(count === 0 ? 0 : 1)
