#!/usr/bin/env node
/** Holds what can be counted of the rules for English; see `help` below. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { wrongInMarkdown } from './prose/markdown.mjs'
import { PARAGRAPH_CHARACTERS_MAX, WORDS_MAX } from './prose/text.mjs'
import { COLUMNS_MAX, wrongInTypeScript } from './prose/typescript.mjs'

const help = `Usage: node scripts/lint-prose.mjs [FILE or FOLDER…]

Checks English: in Markdown, and in the comments and messages of programs. Run it at the root of the checkout.
Without arguments it checks all pages, src/ and examples/.

  sentence   at most ${WORDS_MAX} words; a code span, or an expression in a template, is one
  paragraph  at most ${PARAGRAPH_CHARACTERS_MAX} characters, which is five lines of 120 columns; a list item is a paragraph
  comment    no line of it beyond column ${COLUMNS_MAX}
  phrases    those of scripts/prose/phrases.mjs, each with what to write

Prose is what stands in Markdown outside of headings and code, in comments of examples/, in the JSDoc of what src/ exports (public
members included), in arguments of 'new …Error(…)', and in the help of commands. In other comments only width and phrases are checked.

Prints 'file:line: rule: text'. The exit status is 1 if anything was found.

  --count     print how many findings each file has
  -h, --help  print this`

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h', default: false } },
})

const everything = ['README.md', 'CONTRIBUTING.md', 'docs', 'src', 'examples']

/** Files below a path that are checked. */
function filesBelow(path) {
  if (!existsSync(path)) throw new Error(`there is no ${path}`)
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/(?:^|\/)(?:node_modules|api)\//.test(name))
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
