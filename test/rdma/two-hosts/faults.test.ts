/**
 * What a program sees when the network or the other process fails: every request completes, in bounded time, with what really happened to it, and
 * nothing is left in the kernel.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import test, { after, before } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { QueuePairState } from '../../../src/verbs/index.ts'
import { assertTruthful, Initiator, SUCCESS } from '../support/initiator.ts'
import { RemoteHost } from '../support/remote-host.ts'
import { parseResources, rdmaResources } from '../support/resources.ts'
import { connectToTarget, startTarget } from '../support/target.ts'

let remote: RemoteHost
let idle: Record<string, number>

before(async () => {
  remote = await RemoteHost.connect()
  idle = { ...rdmaResources() }
})

after(() => remote[Symbol.dispose]())

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
    const shown = execFileSync('tc', ['-s', 'qdisc', 'show', 'dev', 'eth0'], { encoding: 'utf8' })
    const dropped = Number(/netem 30:[\s\S]*?dropped (\d+)/.exec(shown)?.[1])
    assert.ok(dropped > 0, `packets were lost on the way: ${shown}`)
  } finally {
    execFileSync('tc', ['qdisc', 'del', 'dev', 'eth0', 'root'])
    await remote.run('tc', 'qdisc', 'del', 'dev', 'eth0', 'root')
  }
}

for (const percent of [1, 20]) {
  test(`with ${percent} % of all packets lost, what is said to be written is there, and reads give it`, async () => {
    const target = await startTarget(remote)
    using initiator = new Initiator()
    let token = await connectToTarget(initiator)
    let written = 0
    let breaks = 0
    await withLoss(percent, async () => {
      for (let value = 1; value <= 200; value++) {
        initiator.memory.bytes.fill(value & 0xff, 0, 2048)
        initiator.memory.bytes.fill(0, 4096, 6144)
        const remoteMemory = { address: token.address, key: token.key }
        initiator.pair.prepareWrite({ local: initiator.memory.subarray(0, 2048), remote: remoteMemory }).post(1)
        initiator.pair.prepareRead({ local: initiator.memory.subarray(4096, 6144), remote: remoteMemory }).post(2)
        const outcomes = await initiator.completions(2)
        if (assertTruthful(outcomes) === 2) {
          const { bytes } = initiator.memory
          assert.equal(Buffer.compare(bytes.subarray(0, 2048), bytes.subarray(4096, 6144)), 0)
          written++
          continue
        }
        breaks++
        assert.equal(initiator.pair.query().state, QueuePairState.Error)
        initiator.replacePair()
        token = await connectToTarget(initiator)
      }
    })
    console.log(`${percent} % lost: ${written} of 200 rounds, ${breaks} broken connections`)
    assert.ok(written > 0)
    if (percent === 1) assert.equal(breaks, 0)
    target.kill('SIGKILL')
    await target.ended
  })
}

test('a link that is down for a moment costs nothing, or a failure that is named; afterwards it works again', async () => {
  const target = await startTarget(remote)
  using initiator = new Initiator()
  let token = await connectToTarget(initiator)
  const write = (id: number): void =>
    initiator.pair
      .prepareWrite({ local: initiator.memory.subarray(0, 4096), remote: { address: token.address, key: token.key } })
      .post(id)
  for (let id = 0; id < 100; id++) write(id)
  execFileSync('ip', ['link', 'set', 'eth0', 'down'])
  for (let id = 100; id < 200; id++) write(id)
  await sleep(300)
  execFileSync('ip', ['link', 'set', 'eth0', 'up'])
  const done = assertTruthful(await initiator.completions(200))
  console.log(`link down: ${done} of 200 writes done`)
  if (done < 200) {
    initiator.replacePair()
    token = await connectToTarget(initiator)
  }
  write(200)
  assert.deepEqual(await initiator.completions(1), [{ id: 200, status: SUCCESS }])
  target.kill('SIGKILL')
  await target.ended
})

test('a killed process is known to its peer, and the kernel keeps nothing of it', async () => {
  const before = parseResources((await remote.run('rdma', 'resource', 'show')).output)
  const target = await startTarget(remote)
  using initiator = new Initiator()
  const token = await connectToTarget(initiator)
  target.kill('SIGKILL')
  await target.ended
  for (let id = 0; id < 50; id++) {
    initiator.pair
      .prepareWrite({ local: initiator.memory.subarray(0, 8), remote: { address: token.address, key: token.key } })
      .post(id)
  }
  assert.equal(assertTruthful(await initiator.completions(50)), 0)
  assert.deepEqual(parseResources((await remote.run('rdma', 'resource', 'show')).output), before)
})

test('nothing of all this is left in the kernel', () => {
  assert.deepEqual({ ...rdmaResources() }, idle)
})
