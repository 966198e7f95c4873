#!/usr/bin/env node
/** Holds what can be counted of the rules for English; see `help` below. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { wrongInMarkdown } from './prose/markdown.mjs'
import { PARAGRAPH_CHARACTERS_MAX, WORDS_MAX } from './prose/text.mjs'

const help = `Usage: node scripts/lint-prose.mjs [FILE or FOLDER…]

Checks English in Markdown files; without arguments, in every one that people read.
A code span is one word. Table cells and list items are prose; headings and code blocks are not.

  sentence    at most ${WORDS_MAX} words
  paragraph   at most ${PARAGRAPH_CHARACTERS_MAX} characters, which is five lines of 120 columns; the same for a list item
  phrases     those of scripts/prose/phrases.mjs, each with what to write

Prints 'file:line: rule: text'. The exit status is 1 if anything was found.

  --count     print how many findings each file has, and no text
  -h, --help  print this`

const root = fileURLToPath(new URL('..', import.meta.url))
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h', default: false } },
})

const everything = ['README.md', 'CONTRIBUTING.md', 'docs'].map((path) => join(root, path))

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
  return path.endsWith('.md') ? wrongInMarkdown : undefined
}

function lint(path) {
  const check = checkOf(path)
  if (check === undefined) throw new Error(`${path} is not a file that can be checked`)
  const name = relative(process.cwd(), path)
  const found = [...check(readFileSync(path, 'utf8'))]
  if (options.count) return found.length === 0 ? found : [`${name}: ${found.length}`]
  return found.map(({ line, rule, text }) => `${name}:${line + 1}: ${rule}: ${text}`)
}

if (options.help) console.log(help)
else {
  const found = (positionals.length === 0 ? everything : positionals).flatMap(filesBelow).flatMap(lint)
  for (const line of found) console.log(line)
  process.exitCode = found.length === 0 ? 0 : 1
}
