import { checkWhole, mustBe } from '../../native/index.ts'
import type { Finding } from '../../profiling/index.ts'
import { formatSize } from '../size.ts'
import type { Advice, PageAdvice, PageWriter } from './advice.ts'
import type { ByteRange } from './byte-map.ts'

type Found = Omit<PageAdvice, 'finding' | 'remedy'>

/** Further ranges are counted, not listed. */
const RANGES_TOLD = 4
const WRITERS_TOLD = 8

const KIND_WORDS = {
  'false-sharing': 'false sharing',
  'true-sharing': 'true sharing',
  'reader-writer': 'one writes, others read',
  unclear: 'unclear',
} as const

/** The finding on a page, as a sentence without its full stop. */
export function findingOf(found: Found): string {
  const { kind, index, writers, readers, unseen, overlaps, grainBytes } = found
  const ranks = writers.map(({ rank }) => rank)
  const bytes = bytesOfAll(writers)
  if (kind === 'true-sharing')
    return grainBytes === 1
      ? `${ranksOf(ranks)} write the same bytes of page ${index}, ${bytesOf(overlaps)}`
      : `${ranksOf(ranks)} write within the same ${grainBytes} bytes of page ${index}, bytes ${bytesOf(overlaps)}`
  if (kind === 'false-sharing') return falseSharing(found)
  if (kind === 'reader-writer')
    return `${ranksOf(ranks)} writes page ${index}, bytes ${bytes}; ${ranksOf(readers)} ${readers.length > 1 ? 'read' : 'reads'} it`
  const seen = ranks.length === 0 ? '' : `; ${ranksOf(ranks)} changed bytes ${bytes}`
  const blind = unseen.length === 0 ? '' : `; no byte had changed when it left ${ranksOf(unseen)}`
  return `page ${index} goes back and forth; between which ranks is not clear yet${seen}${blind}`
}

function falseSharing({ index, writers, seldom }: Found): string {
  const often = writers.filter(({ rank }) => !seldom.includes(rank))
  const rest = writers.filter(({ rank }) => seldom.includes(rank))
  const ranks = (of: readonly PageWriter[]): string => ranksOf(of.map(({ rank }) => rank))
  const alternate = `${ranks(often)} alternate in page ${index}, bytes ${bytesOfAll(often)}`
  return rest.length === 0 ? alternate : `${alternate}; ${ranks(rest)} seldom changed bytes ${bytesOfAll(rest)}`
}

function bytesOfAll(writers: readonly PageWriter[]): string {
  const told = writers.slice(0, WRITERS_TOLD).map(({ ranges }) => bytesOf(ranges))
  return listed(told.length < writers.length ? [...told, `${writers.length - told.length} more parts`] : told)
}

/** What can be done about a page. */
export function remedyFor(page: Found, pageBytes: number): string {
  return { 'false-sharing': separate, 'true-sharing': shareLess, 'reader-writer': readLess, unclear: lookAgain }[
    page.kind
  ](page, pageBytes)
}

function separate({ sharesLine, smallerPagesHelp }: Found, pageBytes: number): string {
  const grain = formatSize(pageBytes)
  const smaller = smallerPagesHelp ? `; or open the region with pageSize: '4KiB', which tells these apart` : ''
  const line = sharesLine
    ? '; they lie within one 64-byte line of the cache, so even threads of one process would slow each other down there'
    : ''
  return `pad to ${grain}, or place by rank, so that what different ranks write is on different pages${smaller}${line}`
}

/** In long pages bytes side by side look like the same. */
function shareLess(page: Found, pageBytes: number): string {
  const less = `let each rank add up locally and write the sum from time to time; hold region.lock() over many changes at once; or send changes as messages to one rank that makes them`
  return page.grainBytes === 1
    ? less
    : `if they write the same bytes, ${less}; if they write side by side, ${separate(page, pageBytes)}`
}

function readLess(): string {
  return `write less often, with more in each write; if others read data beside it, keep what changes on a page of its own; or send it as a message`
}

function lookAgain({ unseen }: Found): string {
  if (unseen.length === 0) return `ask again later, and let every rank open the region with advise: true`
  return `writes that leave a byte unchanged are not seen, such as a lock word that is 0 again, or a request to write that no write followed; look for these at ${ranksOf(unseen)}`
}

/** Advice as lines for a terminal, the worst page first; `pagesMax` of them, default 10. */
export function adviceText(advice: Advice, pagesMax = 10): string {
  checkAdvice(advice)
  if (pagesMax !== Number.POSITIVE_INFINITY) checkWhole('pagesMax', pagesMax, 0, Number.MAX_SAFE_INTEGER)
  const { region, pages, more } = advice
  const lines = [`region '${region}': ${headline(pages.length, more)}`]
  for (const { kind, moves, finding, remedy } of pages.slice(0, pagesMax))
    lines.push(`  ${KIND_WORDS[kind]}, taken away ${moves.toLocaleString('en')} times: ${finding}`, `    ${remedy}`)
  if (pages.length > pagesMax) lines.push(`  and ${pages.length - pagesMax} more pages`)
  return [...lines, ...gaps(advice)].join('\n')
}

function headline(pages: number, more: boolean): string {
  if (pages === 0) return 'no page bounces between ranks'
  const count = pages === 1 ? 'a page bounces' : `${pages} pages bounce`
  return `${count} between ranks${more ? ', and more than the adviser can remember' : ''}`
}

function gaps({ unwatched, silent }: Advice): string[] {
  const lines: string[] = []
  if (unwatched.length > 0)
    lines.push(
      `  nothing is known about ${ranksOf(unwatched)}: open the region there with advise: true, or set AETHER_ADVISE=1`,
    )
  if (silent.length > 0) lines.push(`  no answer from ${ranksOf(silent)}`)
  return lines
}

function bytesOf(ranges: readonly ByteRange[]): string {
  const told = ranges
    .slice(0, RANGES_TOLD)
    .map(({ begin, end }) => (end - begin === 1 ? `${begin}` : `${begin}-${end - 1}`))
  return told.length < ranges.length ? `${told.join(', ')} and ${ranges.length - told.length} more` : told.join(', ')
}

function ranksOf(ranks: readonly number[]): string {
  return ranks.length === 1 ? `rank ${ranks[0]}` : `ranks ${listed(ranks.map(String))}`
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

/** The advice as a profile carries it: `group.profile().withFindings([adviceFinding(await region.advice())])`. */
export function adviceFinding(advice: Advice): Finding {
  checkAdvice(advice)
  return { kind: 'dsm.advice', subject: advice.region, text: adviceText(advice), details: advice }
}

/** It may come from another process, as JSON. @throws ArgumentError */
function checkAdvice(advice: Advice): void {
  const { region, pages, unwatched, silent } = (advice ?? {}) as Partial<Advice>
  const isWhole = Array.isArray(pages) && pages.every(isPage) && Array.isArray(unwatched) && Array.isArray(silent)
  if (typeof region !== 'string' || !isWhole) throw mustBe('advice', 'what region.advice() resolves with', advice)
}

function isPage(page: Partial<PageAdvice> | undefined): boolean {
  return page?.kind !== undefined && page.kind in KIND_WORDS && typeof page.moves === 'number'
}
