import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './checkout.ts'

/** A fenced block of a Markdown file. */
export interface CodeBlock {
  readonly language: string
  readonly text: string
}

/** The Markdown files that people read: those at the root and in docs/ (the generated docs/api aside). */
export function markdownFiles(): string[] {
  const atRoot = readdirSync(root).filter((name) => name.endsWith('.md'))
  const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('api'))
    .map((name) => `docs/${name}`)
  return [...atRoot, ...inDocs].sort()
}

export function codeBlocks(text: string): CodeBlock[] {
  const fences = text.matchAll(/^```(\w*)[^\n]*\n([\s\S]*?)^```$/gm)
  return [...fences].map((match) => ({ language: match[1] ?? '', text: match[2] ?? '' }))
}

function withoutBlocks(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, '')
}

/** Targets of the links and images outside of code, in order. */
export function linkTargets(text: string): string[] {
  const prose = withoutBlocks(text).replaceAll(/`[^`\n]*`/g, '')
  const found = prose.matchAll(/\]\(([^)\s]+)\)|\b(?:src|srcset|href)="([^"]+)"/g)
  return [...found].map((match) => match[1] ?? match[2] ?? '')
}

/** The anchors of a file's headings, as the usual renderers make them. */
export function anchors(path: string): Set<string> {
  const headings = withoutBlocks(readFileSync(path, 'utf8')).matchAll(/^#{1,6} (.+)$/gm)
  const slug = (heading: string) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-')
  return new Set([...headings].map((match) => slug(match[1] ?? '')))
}

/** A row of a table, without the line below its head. */
export interface TableRow {
  /** From 1. */
  readonly line: number
  readonly cells: readonly string[]
}

/** The rows of all tables, heads included. A cell has no `|` in it. */
export function tableRows(text: string): TableRow[] {
  return text.split('\n').flatMap((row, index) => {
    if (!row.startsWith('|') || /^\|[-:| ]+\|$/.test(row)) return []
    const cells = row.split('|').slice(1, -1)
    return [{ line: index + 1, cells: cells.map((cell) => cell.trim()) }]
  })
}

export function readDocument(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** What a program says it prints: the text behind `// prints` on its lines. */
export function promisedOutput(program: string): string[] {
  return [...program.matchAll(/\/\/ prints (.+)$/gm)].map((match) => match[1] ?? '')
}

/** The documentation of each door, path and text: the first comment of its file. */
export function moduleDocuments(): (readonly [string, string])[] {
  return readdirSync(join(root, 'src/public')).map((name) => {
    const path = `src/public/${name}`
    const comment = /^\/\*\*([\s\S]*?)\*\//.exec(readDocument(path))?.[1] ?? ''
    return [path, comment.replaceAll(/^ \* ?/gm, '')] as const
  })
}
