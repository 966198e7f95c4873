import assert from 'node:assert/strict'
import test from 'node:test'
import type { MessageLink } from '../../src/messaging/index.ts'
import { createServer, defineService, openChannel, type, unary } from '../../src/rpc/index.ts'
import { type MemoryLink, memoryLinks } from '../support/memory-links.ts'
import { PATIENT } from './support.ts'

const desk = defineService({
  name: 'desk',
  methods: { echo: unary({ request: type<number>(), response: type<number>() }) },
})

/** Gives its reader the first message, and ends as many microtasks later. */
function endingSoon(link: MemoryLink, ticks: number): MemoryLink {
  let isFirst = true
  const { onMessage } = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(Object.getPrototypeOf(link)))
  Object.defineProperty(link, 'onMessage', {
    set(handler: NonNullable<MessageLink['onMessage']>) {
      onMessage!.set!.call(link, (...message: Parameters<typeof handler>) => {
        handler(...message)
        if (!isFirst) return
        isFirst = false
        void (async () => {
          for (let tick = 0; tick < ticks; tick += 1) await undefined
          link.destroy(new Error('it has ended at once'))
        })()
      })
    },
  })
  return link
}

test('a channel whose connection ends just after the hello has another one', async () => {
  for (let ticks = 0; ticks < 12; ticks += 1) {
    await using server = createServer({ keepAliveMs: Infinity }).serve(desk, { echo: (number) => number })
    let connections = 0
    const source = (): Promise<MessageLink> => {
      connections += 1
      const [left, right] = memoryLinks()
      server.accept(right)
      return Promise.resolve(connections === 1 ? endingSoon(left, ticks) : left)
    }
    await using channel = openChannel(source, { ...PATIENT, backOffMsMin: 1 })
    const client = channel.client(desk)
    while (connections === 1) await new Promise((resolve) => setTimeout(resolve, 1))
    await channel.ready()
    assert.equal(await client.echo(ticks), ticks)
  }
})
