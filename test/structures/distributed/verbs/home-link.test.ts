import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FetchAddCommand } from '../../../../src/structures/distributed/memory/command.ts'
import { BatchInFlight } from '../../../../src/structures/distributed/verbs/batch-in-flight.ts'
import { HomeLink } from '../../../../src/structures/distributed/verbs/home-link.ts'
import type { CompletionQueue, ProtectionDomain } from '../../../../src/verbs/index.ts'

const TIMEOUT_MS = 10_000

/** A link over an adapter that takes everything and answers nothing. */
function silentLink(): HomeLink {
  const pair = { prepareFetchAdd: () => ({}), postSendList: () => {}, toError: () => {} }
  const domain = { createQueuePair: () => pair } as unknown as ProtectionDomain
  return new HomeLink(1, TIMEOUT_MS, domain, {} as CompletionQueue)
}

function batch(): { readonly batch: BatchInFlight; readonly done: Promise<void> } {
  let resolve = (): void => {}
  let reject = (_: Error): void => {}
  const done = new Promise<void>((fulfil, refuse) => {
    resolve = fulfil
    reject = refuse
  })
  const staged = { bytes: new Uint8Array(64), address: 0, key: 0, giveBack: () => {} }
  return { batch: new BatchInFlight('a counter', [new FetchAddCommand(0, 1n)], staged, { resolve, reject }), done }
}

test('a home that does not answer in time is lost, and not before', async () => {
  const link = silentLink()
  const [first, second] = [batch(), batch()]
  link.start(first.batch)
  link.start(second.batch)
  for (let ms = 0; ms <= TIMEOUT_MS; ms += 20) link.lookedAt(ms)
  assert.equal(link.lost, undefined)
  link.lookedAt(TIMEOUT_MS + 20)
  for (const { done } of [first, second]) await assert.rejects(done, { code: 'ERR_AETHER_HOME_LOST', rank: 1 })
  assert.match(String(link.lost), /did not answer in time/)
})

test('what is answered begins the time anew, and time in which nobody looked does not count', async () => {
  const link = silentLink()
  const [first, second] = [batch(), batch()]
  link.start(first.batch)
  link.start(second.batch)
  for (let ms = 0; ms <= 9000; ms += 20) link.lookedAt(ms)
  link.completed()
  await first.done
  for (let ms = 9020; ms <= 18_000; ms += 20) link.lookedAt(ms)
  // Stopped for an hour.
  link.lookedAt(3_600_000)
  assert.equal(link.lost, undefined)
  link.completed()
  await second.done
})
