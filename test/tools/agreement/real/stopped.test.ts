/** Processes and memories that are slow, started badly, or left behind: nothing waits for ever, and nothing stays. */
import { strict as assert } from 'node:assert'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  AgreementCrew,
  algorithms,
  graphNamed,
  hbo,
  playReal,
  type WorldEvent,
} from '../../../../tools/agreement/index.ts'

const TIMEOUT_MS = 60_000
const algorithm = algorithms.find(({ name }) => name === 'protected-memory-paxos')!
const place = { device: 'tcp-lo', address: '127.0.0.1' } as const

test('a leader that is stopped is passed over, and what it still writes when it goes on is refused', async () => {
  const events: WorldEvent[] = []
  const setting = { processes: 2, memories: 3 }
  const watch = (event: WorldEvent): number => events.push(event)
  await using crew = await AgreementCrew.start({ ...place, algorithm, setting, inputs: ['a', 'b'], delayMs: 1, watch })
  crew.pause({ process: 0 })
  crew.begin(0)
  assert.ok(await crew.until(() => crew.decisions[1]!.length > 0, TIMEOUT_MS))
  assert.equal(crew.decisions[1]![0]!.value, 'b')
  crew.resume({ process: 0 })
  const refusals = (): number =>
    events.filter((event) => event.type === 'operation' && event.process === 0 && !event.ok).length
  assert.ok(await crew.until(() => crew.isOver && refusals() === 3, TIMEOUT_MS), `${refusals()} were refused`)
  assert.equal(crew.decisions[0]![0]!.value, 'b')
})

test('a memory that is stopped is not waited for, and takes part again when it goes on', async () => {
  const setting = { processes: 2, memories: 3 }
  const scene = { ...place, algorithm, setting, inputs: ['a', 'b'], delayMs: 20, rounds: 3 }
  await using crew = await AgreementCrew.start(scene)
  // Another one each time: in the last round, the first two are needed.
  for (const [round, memory] of [0, 1, 2].entries()) {
    crew.pause({ memory })
    crew.begin(round)
    assert.ok(await crew.until(() => crew.isOver, TIMEOUT_MS), `round ${round}`)
    const values = crew.decisions.flat().map(({ value }) => value)
    assert.ok(values.length === 2 && values[0] === values[1], values.join())
    crew.resume({ memory })
  }
})

test('one of three that share memory with all decides by itself: it hears what it tells all', async () => {
  const setting = { processes: 3, memories: 3, neighbours: graphNamed('complete', 3) }
  const kills = [1, 2].map((process) => ({ process, atMs: 0 }))
  const scene = { ...place, algorithm: hbo, setting, inputs: ['0', '1', '0'], delayMs: 5 }
  const { violation, undecided, decisions } = await playReal(scene, kills, TIMEOUT_MS)
  assert.deepEqual([violation, undecided, decisions[0]!.length], [undefined, [], 1])
})

test('a crew whose programs cannot be started says so, and leaves nothing to wait for', async (t) => {
  const { execPath } = process
  t.after(() => {
    process.execPath = execPath
  })
  process.execPath = '/no/such/program'
  const setting = { processes: 2, memories: 1 }
  const scene = { ...place, algorithm, setting, inputs: ['a', 'b'], delayMs: 5 }
  await assert.rejects(AgreementCrew.start(scene), { code: 'ERR_AETHER_JOIN' })
})

test('processes and memories end with the command that started them, even if it is killed', async () => {
  const program = fileURLToPath(new URL('../../../../src/cli/main.js', import.meta.url))
  const words = ['agreement', 'paxos', '--real', '--memories', '1', '--kill', 'P0@60000']
  const command = spawn(process.execPath, [program, ...words], { stdio: 'ignore' })
  const ended = once(command, 'exit')
  let children: number[] = []
  // Also while they are being loaded.
  while (children.length < 4) {
    children = childrenOf(command)
    await sleep(5)
  }
  command.kill('SIGKILL')
  await ended
  while (children.some(isThere)) await sleep(20)
})

/** Parents are in the file `stat` of each process, behind its name in brackets. */
function childrenOf({ pid }: ChildProcess): number[] {
  return readdirSync('/proc').flatMap((name) => {
    const parent = /^\d+$/.test(name) ? statOf(name)?.[1] : undefined
    return parent === String(pid) ? [Number(name)] : []
  })
}

function isThere(pid: number): boolean {
  const state = statOf(String(pid))?.[0]
  return state !== undefined && state !== 'Z'
}

function statOf(pid: string): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}
