import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createServer, openChannel } from '../../src/rpc/index.ts'
import { memoryLinks } from '../support/memory-links.ts'
import { until } from './support.ts'

/** What Node.js cannot hold becomes 1 ms. */
const TIMER_MS_MAX = 2 ** 31 - 1
const BEYOND = [Infinity, 1e10]

/** The delays of all timers that are set from now on. */
function delaysOf(t: TestContext): number[] {
  const delays: number[] = []
  for (const name of ['setTimeout', 'setInterval'] as const) {
    const real = globalThis[name]
    const noting = (callback: () => void, delay: number) => {
      delays.push(delay)
      return real(callback, Math.min(TIMER_MS_MAX, delay))
    }
    t.mock.method(globalThis, name, noting as never)
  }
  return delays
}

function assertHeld(delays: readonly number[], what: string): void {
  assert.ok(delays.includes(TIMER_MS_MAX), `${what}: ${delays}`)
  assert.ok(
    delays.every((delay) => delay <= TIMER_MS_MAX),
    `${what}: ${delays}`,
  )
}

for (const ms of BEYOND)
  test(`a server has ${ms} ms to say hello, and a channel waits ${ms} ms for it`, async (t) => {
    const delays = delaysOf(t)
    const [mine, theirs] = memoryLinks()
    const channel = openChannel(mine, { helloMsMax: ms, keepAliveMs: Infinity })
    const ready = channel.ready({ timeoutMs: 1e10 })
    await using server = createServer({ keepAliveMs: Infinity })
    server.accept(theirs)
    await ready
    await channel.close()
    assertHeld(delays, 'helloMsMax')
  })

test('an end asks a silent peer after a time that no timer holds as late as timers can', async (t) => {
  const delays = delaysOf(t)
  const [mine, theirs] = memoryLinks()
  await using server = createServer({ keepAliveMs: 1e10 })
  server.accept(theirs)
  assertHeld(delays.splice(0), 'of the server')
  const channel = openChannel(mine, { keepAliveMs: 1e10 })
  await channel.ready()
  await channel.close()
  assertHeld(delays, 'of the channel')
})

test('a wait for the next try that no timer holds is as long as timers can', async (t) => {
  t.mock.method(Math, 'random', () => 1)
  const delays = delaysOf(t)
  let tries = 0
  const source = () => {
    tries += 1
    return Promise.reject(new Error('nobody is there'))
  }
  const channel = openChannel(source, { backOffMsMin: 1e10, backOffMsMax: Infinity })
  await until(() => delays.length > 0)
  await channel.close()
  assertHeld(delays, 'backOffMs')
  assert.equal(tries, 1)
})
