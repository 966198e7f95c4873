#!/usr/bin/env node
/** Checks the rules for English that can be counted; see `help` below. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { wrongInMarkdown } from './prose/markdown.mjs'
import { COLUMNS_MAX, PARAGRAPH_CHARACTERS_MAX, WORDS_MAX } from './prose/text.mjs'
import { wrapComments, wrongInTypeScript } from './prose/typescript.mjs'

const help = `Usage: node scripts/lint-prose.mjs [FILE or FOLDER…]

Checks the English of Markdown, and of comments and messages in programs. Run it at the root of the checkout.
Without arguments it checks all pages, src/, tools/, web/ and examples/.

  sentence   at most ${WORDS_MAX} words; a code span, or an expression in a template, is one
  paragraph  at most ${PARAGRAPH_CHARACTERS_MAX} characters, which is five lines of 120 columns; a list item is a paragraph
  comment    no line of it beyond column ${COLUMNS_MAX}
  phrases    those of scripts/prose/phrases.mjs, each with what to write instead

Prose is Markdown outside of headings and code, comments in examples/, JSDoc of exports (with their public members),
arguments of 'new …Error(…)', help texts of commands, and texts in web/. In other comments only width and phrases are
checked.

Prints 'file:line: rule: text'. The exit status is 1 if there are findings.

  --wrap      first wrap comments that are too wide, if they are on lines of their own
  --count     print the number of findings in each file
  -h, --help  print this help`

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    wrap: { type: 'boolean', default: false },
    count: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

const everything = ['README.md', 'CONTRIBUTING.md', 'docs', 'src', 'tools', 'web', 'examples']

/** Files below a path that are checked. */
function filesBelow(path) {
  if (!existsSync(path)) throw new Error(`there is no ${path}`)
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/(?:^|\/)(?:node_modules|api|dist)\//.test(name))
    .map((name) => join(path, name))
    .filter((name) => checkOf(name) !== undefined)
    .sort()
}

/** How a file is checked, by its name. */
function checkOf(path) {
  if (path.endsWith('.md')) return wrongInMarkdown
  if (/\.(?:ts|mjs|js)$/.test(path)) return (text) => wrongInTypeScript(text, relative(process.cwd(), path))
  return undefined
}

function lint(path) {
  const check = checkOf(path)
  if (check === undefined) throw new Error(`${path} is not a file that can be checked`)
  const name = relative(process.cwd(), path)
  if (options.wrap && !path.endsWith('.md')) writeFileSync(path, wrapComments(readFileSync(path, 'utf8'), name))
  const found = [...check(readFileSync(path, 'utf8'))]
  if (options.count) return found.length === 0 ? [] : [`${name}: ${found.length}`]
  return found.map(({ line, rule, text }) => `${name}:${line + 1}: ${rule}: ${text}`)
}

if (options.help) console.log(help)
else {
  const found = (positionals.length === 0 ? everything : positionals).flatMap(filesBelow).flatMap(lint)
  for (const line of found) console.log(line)
  process.exitCode = found.length === 0 ? 0 : 1
}
