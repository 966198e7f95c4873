/**
 * What a program sees when the network or the other process fails: every request completes, in bounded time, with what
 * really happened to it, and nothing is left in the kernel.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import test, { after, before } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { QueuePairState, type RegionToken } from '../../../src/verbs/index.ts'
import { drawn } from '../../support/drawn.ts'
import { assertTruthful, FLUSHED, Initiator, RETRY_EXCEEDED, SUCCESS } from '../support/initiator.ts'
import { RemoteHost } from '../support/remote-host.ts'
import { parseResources, rdmaResources } from '../support/resources.ts'
import { Target } from '../support/target.ts'

/** With one packet in a hundred lost, fewer would often lose none. */
const ROUNDS = 40

let remote: RemoteHost
/** It serves all that do not kill it: emulated, the start of a process takes seconds. */
let target: Target
let idle: Record<string, number>

before(async () => {
  remote = await RemoteHost.connect()
  idle = { ...rdmaResources() }
  target = await Target.start(remote)
})

after(async () => {
  await target[Symbol.asyncDispose]()
  remote[Symbol.dispose]()
})

/** Only what RDMA sends is lost (UDP to port 4791); the tests' own words go through. */
const lossRules = (percent: number) => [
  'tc qdisc replace dev eth0 root handle 1: prio',
  `tc qdisc replace dev eth0 parent 1:3 handle 30: netem loss ${percent}%`,
  'tc filter replace dev eth0 protocol ip parent 1:0 prio 1 u32 match ip dport 4791 0xffff flowid 1:3',
]

async function withLoss(percent: number, body: () => Promise<void>): Promise<void> {
  const rules = lossRules(percent).join(' && ')
  execFileSync('sh', ['-c', rules])
  assert.equal((await remote.run('sh', '-c', rules)).status, 0)
  try {
    await body()
  } finally {
    execFileSync('tc', ['qdisc', 'del', 'dev', 'eth0', 'root'])
    await remote.run('tc', 'qdisc', 'del', 'dev', 'eth0', 'root')
  }
}

/** Packets that this host's end of the cable has swallowed. */
function lostPackets(): number {
  const shown = execFileSync('tc', ['-s', 'qdisc', 'show', 'dev', 'eth0'], { encoding: 'utf8' })
  return Number(/netem 30:[\s\S]*?dropped (\d+)/.exec(shown)?.[1])
}

/** Writes, then reads what was written: true when both were done, and the bytes were right. */
async function playRound(initiator: Initiator, token: RegionToken, value: number): Promise<boolean> {
  const { bytes } = initiator.memory
  bytes.fill(value, 0, 2048)
  bytes.fill(0, 4096, 6144)
  initiator.pair.prepareWrite({ local: initiator.memory.subarray(0, 2048), remote: token }).post(1)
  initiator.pair.prepareRead({ local: initiator.memory.subarray(4096, 6144), remote: token }).post(2)
  if (assertTruthful(await initiator.completions(2)) < 2) return false
  assert.equal(Buffer.compare(bytes.subarray(0, 2048), bytes.subarray(4096, 6144)), 0)
  return true
}

const losses = [
  [1, ROUNDS],
  [20, 16],
] as const
for (const [percent, rounds] of drawn(losses, 1)) {
  test(`with ${percent} % of all packets lost, what is said to be written is there, and reads give it`, async () => {
    using initiator = new Initiator()
    let token = await target.connect(initiator)
    let done = 0
    let broken = 0
    await withLoss(percent, async () => {
      while (done < rounds || lostPackets() === 0) {
        if (await playRound(initiator, token, 1 + (done % 255))) {
          done += 1
          continue
        }
        broken += 1
        assert.ok(broken < ROUNDS, 'connections break more often than they carry anything')
        assert.equal(initiator.pair.query().state, QueuePairState.Error)
        initiator.replacePair()
        token = await target.connect(initiator)
      }
      console.log(`${percent} % lost: ${done} rounds, ${lostPackets()} packets lost here, ${broken} connections broken`)
    })
    if (percent === 1) assert.equal(broken, 0)
  })
}

test('a link that is down for a moment costs nothing, or a failure that is named; afterwards it works again', async () => {
  using initiator = new Initiator()
  let token = await target.connect(initiator)
  const write = (id: number): void =>
    initiator.pair.prepareWrite({ local: initiator.memory.subarray(0, 4096), remote: token }).post(id)
  for (let id = 0; id < 100; id += 1) write(id)
  execFileSync('ip', ['link', 'set', 'eth0', 'down'])
  for (let id = 100; id < 200; id += 1) write(id)
  await sleep(300)
  execFileSync('ip', ['link', 'set', 'eth0', 'up'])
  // soft-RoCE flushes what its own card did not take, and keeps the cause to itself.
  const done = assertTruthful(await initiator.completions(200), [RETRY_EXCEEDED, FLUSHED])
  console.log(`link down: ${done} of 200 writes done`)
  if (done < 200) {
    initiator.replacePair()
    token = await target.connect(initiator)
  }
  write(200)
  assert.deepEqual(await initiator.completions(1), [{ id: 200, status: SUCCESS }])
})

test('a killed process is known to its peer, and the kernel keeps nothing of it', async () => {
  const before = parseResources((await remote.run('rdma', 'resource', 'show')).output)
  await using victim = await Target.start(remote)
  using initiator = new Initiator()
  const token = await victim.connect(initiator)
  await victim[Symbol.asyncDispose]()
  for (let id = 0; id < 50; id += 1) {
    initiator.pair.prepareWrite({ local: initiator.memory.subarray(0, 8), remote: token }).post(id)
  }
  assert.equal(assertTruthful(await initiator.completions(50)), 0)
  assert.deepEqual(parseResources((await remote.run('rdma', 'resource', 'show')).output), before)
})

test('nothing of all this is left in the kernel', () => {
  assert.deepEqual({ ...rdmaResources() }, idle)
})
