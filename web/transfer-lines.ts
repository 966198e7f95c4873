import { colour, rankColour } from './canvas.ts'
import type { ChartUse, Line } from './chart.ts'
import type { Feed } from './feed.ts'
import type { LinkHistory } from './link-history.ts'
import type { Ends } from './matrix.ts'
import type { OperationHistory } from './operation-list.ts'
import { countText, rateText, timeText } from './units.ts'

/** How many lines a chart has, besides the one for all together. */
const LINES_MAX = 6

interface NamedLine extends Line {
  readonly name: string
}

/** What a chart of transfers shows. */
export interface TransferLines extends Omit<ChartUse, 'label'> {
  readonly title: string
  readonly of: string
  readonly lines: readonly NamedLine[]
}

/** The selection: an operation, otherwise a link, otherwise all links. */
export interface TransferChoice {
  readonly link: Ends | undefined
  readonly operation: OperationHistory | undefined
}

export function linkText({ from, to }: { readonly from: number; readonly to: number | null }): string {
  return to === null ? `${from}, any peer` : `${from} → ${to}`
}

/** Bytes per second; for an operation without bytes, operations per second. */
export function bandwidthLines(feed: Feed, { link, operation }: TransferChoice): TransferLines {
  const { look, times } = feed
  const bytesOf = { title: 'Bandwidth', format: rateText, unit: 1024, empty: 'No traffic' } as const
  if (operation !== undefined) {
    const { now, bytes, rate } = operation
    const hasBytes = bytes.sum(look, times.length) > 0
    const values = (hasBytes ? bytes : rate).values(look, times.length)
    const how = hasBytes
      ? bytesOf
      : { ...bytesOf, title: 'Operations per second', format: countText, unit: 1000 as const }
    const line = { values, colour: rankColour(now.from), fill: true, name: now.name }
    return { ...how, of: `${now.name}, ${linkText(now)}`, lines: [line] }
  }
  if (link === undefined) {
    const busiest = busiestLinks(feed)
    const lines = busiest.map(({ from, to, bytes }, index) => ({
      values: smooth(bytes.values(look, times.length)),
      colour: rankColour(index),
      fill: busiest.length < 3,
      name: `${from} → ${to}`,
    }))
    return { ...bytesOf, of: 'of the busiest links', lines }
  }
  const whole = feed.links.get(`${link.from} ${link.to}`)
  const parts = operationsOf(feed, link, ({ bytes }) => bytes.sum(look, times.length)).map((each, index) => ({
    values: each.bytes.values(look, times.length),
    colour: rankColour(index + 1),
    name: each.now.name,
  }))
  const all = whole && { values: smooth(whole.bytes.values(look, times.length)), colour: colour('soft'), fill: true }
  return { ...bytesOf, of: linkText(link), lines: [...(all === undefined ? [] : [{ ...all, name: 'all' }]), ...parts] }
}

/** Times of operations: p50 and p99 of one, or p50 of each; for all links, the mean time of a page or request. */
export function latencyLines(feed: Feed, { link, operation }: TransferChoice): TransferLines {
  const { look, times } = feed
  const format = (us: number): string => timeText(1000 * us)
  const timesOf = { title: 'Latency', format, unit: 1000, empty: 'Nothing has been timed' } as const
  if (operation !== undefined) {
    const { now, p50Us, p99Us } = operation
    const lines = [
      { values: p50Us.values(look, times.length), colour: colour('good'), name: 'p50' },
      { values: p99Us.values(look, times.length), colour: colour('bad'), name: 'p99' },
    ]
    return { ...timesOf, of: `${now.name}, ${linkText(now)}`, lines }
  }
  if (link === undefined) {
    const lines = busiestLinks(feed).map(({ from, to, latencyUs }, index) => ({
      values: smooth(latencyUs.values(look, times.length)),
      colour: rankColour(index),
      name: `${from} → ${to}`,
    }))
    return { ...timesOf, of: 'mean wait for a page from the sender, or for a request', lines }
  }
  const lines = operationsOf(feed, link, ({ p50Us }) => {
    const known = p50Us.values(look, times.length).filter((value) => value !== null)
    return known.length
  }).map((each, index) => ({
    values: each.p50Us.values(look, times.length),
    colour: rankColour(index + 1),
    name: each.now.name,
  }))
  return { ...timesOf, of: `p50, ${linkText(link)}`, lines }
}

function busiestLinks({ links, look }: Feed): readonly LinkHistory[] {
  return [...links.values()]
    .map((link) => ({ link, recent: link.recent(look) }))
    .filter(({ recent }) => recent > 0)
    .sort((a, b) => b.recent - a.recent)
    .slice(0, LINES_MAX)
    .map(({ link }) => link)
}

/** The operations of a link with the largest `much`. */
function operationsOf(
  { operations, look }: Feed,
  link: Ends,
  much: (operation: OperationHistory) => number,
): readonly OperationHistory[] {
  return operations
    .of(link, look, Number.POSITIVE_INFINITY)
    .map((operation) => ({ operation, much: much(operation) }))
    .filter((each) => each.much > 0)
    .sort((a, b) => b.much - a.much)
    .slice(0, LINES_MAX)
    .map(({ operation }) => operation)
}

/** The mean of the last second at each point, because single looks jump. Null if that second has no value. */
function smooth(values: readonly (number | null)[]): (number | null)[] {
  return values.map((_, index) => {
    const near = values.slice(Math.max(0, index - 4), index + 1).filter((value) => value !== null)
    return near.length === 0 ? null : near.reduce((sum, value) => sum + value, 0) / near.length
  })
}
