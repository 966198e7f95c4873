import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HistogramFrame, LinkFrame, LookFrame, Message } from '../../src/dashboard/index.ts'
import { Telling } from '../../src/dashboard/telling.ts'
import { SyntheticSpace } from './support/synthetic-space.ts'

/** As web/feed.ts has it, which is built for a browser. */
interface Feed {
  readonly flows: ReadonlyMap<string, LinkFrame>
  readonly histograms: ReadonlyMap<string, HistogramFrame>
  take(message: Message): void
}
const { Feed } = (await import(new URL('../../web/feed.js', import.meta.url).href)) as { readonly Feed: new () => Feed }

/**
 * A page, and how it is told of the next look of a space of that many members; `change` says what is otherwise in it.
 */
function page(members: number) {
  const space = new SyntheticSpace({ members, pages: 256, blocksALook: 0, lookMs: 1000 })
  const telling = new Telling()
  const feed = new Feed()
  const tell = (change: (frame: ReturnType<SyntheticSpace['look']>) => object = () => ({})): readonly Message[] => {
    const frame = space.look()
    const messages = telling.next({ ...frame, ...change(frame) }, [], 0, [], space)
    for (const message of messages) feed.take(message)
    return messages
  }
  return { feed, tell }
}

test('the page forgets histograms of what has ended and of who has gone, and is told of them once', () => {
  const { feed, tell } = page(3)
  tell()
  assert.equal(feed.histograms.size, 3)
  const ended = ({ histograms }: { readonly histograms: readonly HistogramFrame[] }) => ({
    histograms: histograms.filter(({ slot }) => slot !== 1),
  })
  const isGone = (messages: readonly Message[]) =>
    messages.flatMap((message) => (message.event === 'histograms' ? (message.data.gone ?? []) : []))
  assert.deepEqual(isGone(tell(ended)), [['dsm.fault grid', 1]])
  assert.deepEqual([...feed.histograms.keys()], ['dsm.fault grid 0', 'dsm.fault grid 2'])
  assert.deepEqual(isGone(tell(ended)), [])
  tell()
  assert.equal(feed.histograms.size, 3, 'and knows it again when it is back')
  tell(() => ({ histograms: [] }))
  assert.equal(feed.histograms.size, 0)
})

test('links of a rank that has gone go, also where another came at the same time', () => {
  const { feed, tell } = page(4)
  const without = (gone: number) => (frame: Pick<LookFrame, 'members'> & { readonly links: readonly LinkFrame[] }) => ({
    members: frame.members.filter(({ rank }) => rank !== gone),
    links: frame.links.filter(({ from, to }) => from !== gone && to !== gone),
  })
  tell(without(3))
  assert.equal(feed.flows.size, 6)
  tell(without(0))
  assert.deepEqual(
    [...feed.flows.values()].filter(({ from, to }) => from === 0 || to === 0),
    [],
  )
  assert.equal(feed.flows.size, 6)
  const still = { messages: 1, pages: 1, bytes: 1, latencyNs: null, totalBytes: 1 }
  for (const gone of [3, 0, 3])
    tell((frame) => {
      const { members, links } = without(gone)(frame)
      return { members, links: links.map((link) => ({ ...link, ...still })) }
    })
  assert.equal(feed.flows.size, 6, 'one that comes back with what it had is there again')
})
