import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import type { PeerAddress } from '../../../src/messaging/index.ts'

const SIZE = 4
const VICTIM = 2

/** What a process says next; its end is an error. */
async function heard<T>(child: ChildProcess): Promise<T> {
  const ended = new AbortController()
  const onExit = (code: number | null, signal: string | null) =>
    ended.abort(new Error(`the process ended: ${code ?? signal}`))
  child.once('exit', onExit)
  try {
    const [message] = (await once(child, 'message', { signal: ended.signal })) as [T]
    return message
  } finally {
    child.off('exit', onExit)
  }
}

/** Four processes compute; one is killed in a collective, the others are told which, and go on without it. */
export async function killOneOfFour(t: TestContext, device: string, address: string): Promise<void> {
  const script = new URL('fixtures/member-main.js', import.meta.url)
  const children = Array.from({ length: SIZE }, (_, number) => fork(script, [String(number), device, address]))
  t.after(() => {
    for (const child of children) child.kill('SIGKILL')
  })
  const addresses = await Promise.all(children.map((child) => heard<PeerAddress>(child)))
  for (const child of children) child.send(addresses)
  const rounds = await Promise.all(children.map((child) => heard<number>(child)))
  assert.deepEqual(rounds, Array(SIZE).fill(20))

  const left = children.filter((_, number) => number !== VICTIM)
  const losses = left.map((child) => heard(child))
  // Somewhere in a sum, most likely: they follow each other without a pause.
  await new Promise((resolve) => setTimeout(resolve, 300))
  children[VICTIM]!.kill('SIGKILL')
  for (const loss of await Promise.all(losses)) assert.deepEqual(loss, { code: 'ERR_AETHER_PEER_LOST', peer: VICTIM })

  const sums = left.map((child) => heard(child))
  for (const child of left) child.send([0, 1, 3])
  for (const sum of await Promise.all(sums)) assert.deepEqual(sum, [4, 3])
  const exits = left.map(async (child) => child.exitCode ?? ((await once(child, 'exit')) as [number])[0])
  assert.deepEqual(await Promise.all(exits), [0, 0, 0])
}
