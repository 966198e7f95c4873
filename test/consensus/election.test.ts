import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import process from 'node:process'
import { afterEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ElectedTerm } from '../../src/consensus/election/elected-term.ts'
import { type Candidate, type ElectionCommand, ElectionMachine } from '../../src/consensus/election/election-machine.ts'
import { type Election, type ElectOptions, elect } from '../../src/consensus/index.ts'
import { join, type RegionGroup } from '../../src/public/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { RankProcess } from '../support/rank-process.ts'

const directory = useRuntimeDirectory()

/** So long that no test waits for it. */
const LONG_MS = 600_000

/** Returns false if that is what the error says, and throws another. */
function isNoCandidate(error: unknown): boolean {
  if ((error as { readonly code?: string }).code === 'ERR_AETHER_CONSENSUS_NO_CANDIDATE') return false
  throw error
}

describe('the machine', () => {
  const candidate = (id: string, rank = 0): Candidate => ({ id, rank, processId: 1, ttlMs: 1000 })
  const campaign = (id: string, rank?: number): ElectionCommand => ({
    type: 'campaign',
    candidate: candidate(id, rank),
  })
  const renew = (id: string): ElectionCommand => ({ type: 'renew', id })
  const withdraw = (id: string): ElectionCommand => ({ type: 'withdraw', id })
  const expire = (token: number, renewals: number): ElectionCommand => ({ type: 'expire', token, renewals })
  const transfer = (id: string, rank: number): ElectionCommand => ({ type: 'transfer', id, rank })

  /** Each step: a command, what it answers, and then `leader:token < those who wait`. */
  type Step = readonly [command: ElectionCommand, answer: boolean, then: string]
  const tables: Readonly<Record<string, readonly Step[]>> = {
    'who campaigns first leads first': [
      [campaign('a'), true, 'a:1 <'],
      [campaign('b'), true, 'a:1 < b'],
      [campaign('c'), true, 'a:1 < b c'],
      [withdraw('a'), true, 'b:2 < c'],
      [withdraw('b'), true, 'c:3 <'],
      [withdraw('c'), true, '- <'],
      [campaign('a'), true, 'a:4 <'],
    ],
    'one campaigns once at a time': [
      [campaign('a'), true, 'a:1 <'],
      [campaign('a'), true, 'a:1 <'],
      [campaign('b'), true, 'a:1 < b'],
      [campaign('b'), true, 'a:1 < b'],
    ],
    'one that waits may withdraw, and one that is unknown': [
      [campaign('a'), true, 'a:1 <'],
      [campaign('b'), true, 'a:1 < b'],
      [campaign('c'), true, 'a:1 < b c'],
      [withdraw('b'), true, 'a:1 < c'],
      [withdraw('b'), true, 'a:1 < c'],
    ],
    'only the leader renews': [
      [renew('a'), false, '- <'],
      [campaign('a'), true, 'a:1 <'],
      [campaign('b'), true, 'a:1 < b'],
      [renew('b'), false, 'a:1 < b'],
      [renew('a'), true, 'a:1 < b'],
    ],
    'a tenure expires only if no renewal came since, and once': [
      [expire(1, 0), false, '- <'],
      [campaign('a'), true, 'a:1 <'],
      [campaign('b'), true, 'a:1 < b'],
      [renew('a'), true, 'a:1 < b'],
      [expire(1, 0), false, 'a:1 < b'],
      [expire(1, 1), true, 'b:2 <'],
      [expire(1, 1), false, 'b:2 <'],
      [renew('a'), false, 'b:2 <'],
      [expire(2, 0), true, '- <'],
    ],
    'a leader transfers to a candidate of a rank, before others': [
      [campaign('a', 1), true, 'a:1 <'],
      [campaign('b', 2), true, 'a:1 < b'],
      [campaign('c', 3), true, 'a:1 < b c'],
      [transfer('b', 3), false, 'a:1 < b c'],
      [transfer('a', 4), false, 'a:1 < b c'],
      [transfer('a', 3), true, 'c:2 < b'],
      [transfer('a', 2), false, 'c:2 < b'],
    ],
  }

  const shown = ({ leader, waiting }: ElectionMachine): string =>
    [leader ? `${leader.id}:${leader.token}` : '-', '<', ...waiting.map(({ id }) => id)].join(' ')

  for (const [name, steps] of Object.entries(tables))
    test(name, () => {
      const machine = new ElectionMachine()
      for (const [index, [command, answer, then]] of steps.entries()) {
        assert.equal(machine.apply(command, { index, timeMs: 0, term: 1 }), answer, `${index}`)
        assert.equal(shown(machine), then, `${index}`)
        // A replica that was caught up goes on alike.
        const copy = new ElectionMachine()
        copy.restore([...machine.snapshot()])
        assert.equal(shown(copy), then)
        assert.deepEqual(copy.leader, machine.leader)
        assert.deepEqual(copy.candidates, machine.candidates)
      }
    })

  test('tokens are those of the time, and grow if it stands still', () => {
    const machine = new ElectionMachine()
    const tokens = [5000.5, 5000.5, 7000, 6000].map((timeMs, index) => {
      machine.apply(campaign(`${index}`), { index, timeMs, term: 1 })
      const token = machine.leader!.token
      machine.apply(withdraw(`${index}`), { index, timeMs, term: 1 })
      return token
    })
    assert.deepEqual(tokens, [5000, 5001, 7000, 7001])
  })

  test('it tells of each change, also of a snapshot', () => {
    const machine = new ElectionMachine()
    let changes = 0
    machine.onChange = () => {
      changes += 1
    }
    machine.apply(campaign('a'), { index: 1, timeMs: 0, term: 1 })
    machine.restore([...machine.snapshot()])
    assert.equal(changes, 2)
  })
})

describe('a term', () => {
  const over = (term: ElectedTerm): Promise<string> =>
    new Promise((resolve) => {
      const alive = setInterval(() => {}, 1000)
      term.signal.addEventListener('abort', () => {
        clearInterval(alive)
        resolve(term.signal.reason.message)
      })
    })
  const host = { token: 7, ttlMs: 60, renew: async () => true, withdraw: async () => {} }

  test('it is renewed as long as that is acknowledged', async () => {
    let renewals = 0
    const term = new ElectedTerm({ ...host, ttlMs: 300, renew: async () => ++renewals < 12 }, performance.now())
    assert.match(await over(term), /term 7 is over: another process leads/)
    assert.equal(renewals, 12)
    assert.equal(term.isLeader, false)
  })

  test('it ends when a renewal is not acknowledged in time, and the others are told', async () => {
    let told = 0
    const withdraw = async () => {
      told += 1
    }
    const term = new ElectedTerm({ ...host, renew: () => new Promise(() => {}), withdraw }, performance.now())
    assert.match(await over(term), /it was not renewed within 60 ms/)
    assert.equal(told, 1)
  })

  test('it counts from the sending of a renewal, not from its acknowledgement', async () => {
    // The first is sent after 100 ms and acknowledged after 250, the second after 350 and 500: that is too late.
    let renewals = 0
    const renew = async () => {
      await sleep(150)
      return ++renewals < 10
    }
    const term = new ElectedTerm({ ...host, ttlMs: 300, renew }, performance.now())
    assert.match(await over(term), /it was not renewed within 300 ms/)
  })

  test('it is over at once by the clock, though no timer has run', () => {
    const term = new ElectedTerm({ ...host, ttlMs: 20 }, performance.now())
    assert.equal(term.isLeader, true)
    const end = performance.now() + 30
    while (performance.now() < end);
    assert.equal(term.signal.aborted, false)
    assert.equal(term.isLeader, false)
    assert.equal(term.signal.aborted, true)
  })

  test('it is over for this process before the others are told that it is resigned', async () => {
    let wasAborted = false
    const withdraw = async () => {
      wasAborted = term.signal.aborted
    }
    const term: ElectedTerm = new ElectedTerm({ ...host, withdraw }, performance.now())
    await term.resign()
    await term.resign()
    assert.equal(wasAborted, true)
  })
})

describe('in one process', () => {
  let opened = 0
  async function alone(
    options: ElectOptions = {},
  ): Promise<{ group: RegionGroup; election: Election } & AsyncDisposable> {
    const group = await join({ rank: 0, size: 1, rendezvous: `local:election-${process.pid}-${++opened}` })
    const election = await elect(group, 'job', { ttlMs: LONG_MS, ...options })
    const dispose = async () => {
      await election.close()
      await group.close()
    }
    return { group, election, [Symbol.asyncDispose]: dispose }
  }

  test('campaigns lead one after the other, and each has a greater token', async () => {
    await using it = await alone()
    const { election } = it
    assert.equal(election.leader, undefined)
    const first = await election.campaign()
    assert.deepEqual(election.leader, { rank: 0, processId: process.pid, token: first.token })
    const order: string[] = []
    const second = election.campaign().then((term) => {
      order.push('second')
      return term
    })
    const third = election.campaign().then((term) => {
      order.push('third')
      return term
    })
    await first.resign()
    assert.ok(first.signal.aborted)
    assert.equal(first.signal.reason.code, 'ERR_AETHER_CONSENSUS_NOT_LEADER')
    const next = await second
    assert.deepEqual(order, ['second'])
    await next.resign()
    const last = await third
    assert.ok(first.token < next.token && next.token < last.token)
    assert.equal(last.isLeader, true)
  })

  test('a leader stays one for many times its ttl', async () => {
    await using it = await alone({ ttlMs: 300 })
    const term = await it.election.campaign()
    await sleep(1000)
    assert.equal(term.isLeader, true)
    assert.equal(it.election.leader?.token, term.token)
  })

  test('a campaign that is cancelled leads never', async () => {
    await using it = await alone()
    const { election } = it
    const first = await election.campaign()
    const cancelled = new AbortController()
    const waiting = election.campaign({ signal: cancelled.signal })
    const third = election.campaign()
    cancelled.abort(new Error('no more'))
    await assert.rejects(waiting, /no more/)
    await first.resign()
    assert.equal(election.leader?.token, (await third).token)
    await assert.rejects(election.campaign({ signal: AbortSignal.abort(new Error('before')) }), /before/)
    await (await third).resign()
    assert.equal(election.leader, undefined)
  })

  test('leaders are observed, and that there is none', async () => {
    await using it = await alone()
    const { election } = it
    const seen: (number | undefined)[] = []
    const observed = (async () => {
      for await (const leader of election.observe()) seen.push(leader?.token)
    })()
    const isSeen = async (count: number) => {
      while (seen.length < count) await sleep(1)
    }
    await isSeen(1)
    const term = await election.campaign()
    await isSeen(2)
    await term.resign()
    await isSeen(3)
    await election.close()
    await observed
    assert.deepEqual(seen, [undefined, term.token, undefined])
    const stopped = (await alone()).election
    const iterator = stopped.observe({ signal: AbortSignal.timeout(50) })
    assert.equal((await iterator.next()).value, undefined)
    await assert.rejects(iterator.next(), { name: 'TimeoutError' })
    await stopped.close()
  })

  test('when it is closed, campaigns reject and terms end; what comes later is refused', async () => {
    await using it = await alone()
    const { election } = it
    const term = await election.campaign()
    const refused = assert.rejects(election.campaign(), { code: 'ERR_AETHER_CONSENSUS_CLOSED' })
    await election.close()
    await refused
    assert.match(term.signal.reason.message, /its election was closed/)
    await term.resign()
    await assert.rejects(election.campaign(), { code: 'ERR_AETHER_CONSENSUS_CLOSED', message: /call elect\(\) again/ })
    await assert.rejects(election.transfer(0), { code: 'ERR_AETHER_CONSENSUS_CLOSED' })
    await assert.rejects(election.observe().next(), { code: 'ERR_AETHER_CONSENSUS_CLOSED' })
    await election.close()
  })

  test('who does not lead transfers nothing, nor to a rank that does not campaign', async () => {
    await using it = await alone()
    const { election } = it
    await assert.rejects(election.transfer(0), { code: 'ERR_AETHER_CONSENSUS_NOT_LEADER' })
    const term = await election.campaign()
    await assert.rejects(election.transfer(0), { code: 'ERR_AETHER_CONSENSUS_NO_CANDIDATE' })
    assert.equal(term.isLeader, true, 'it leads on')
    const other = election.campaign()
    await sleep(50)
    await election.transfer(0)
    assert.equal(term.isLeader, false)
    assert.ok((await other).token > term.token)
  })

  test('what is wrong in a call is named', async () => {
    await using it = await alone()
    const { group, election } = it
    const invalid = (message: RegExp) => ({ code: 'ERR_AETHER_INVALID_ARGUMENT', message })
    const wrong = (options: unknown) => elect(group, 'wrong', options as ElectOptions)
    await assert.rejects(elect(group, ''), invalid(/^name must be/))
    await assert.rejects(wrong({ ttl: 5 }), invalid(/ttlMs/))
    await assert.rejects(wrong({ ttlMs: 1 }), invalid(/^options\.ttlMs must be a whole number from 10 to 2\^30, not 1/))
    await assert.rejects(wrong({ ttlMs: '5' }), invalid(/^options\.ttlMs/))
    await assert.rejects(wrong({ replicas: 2 }), invalid(/^options\.replicas/))
    await assert.rejects(election.campaign({ sign: 1 } as object), invalid(/signal/))
    await assert.rejects(election.campaign({ signal: 1 } as object), invalid(/^options\.signal/))
    await assert.rejects(election.transfer(-1), invalid(/^rank/))
    await assert.rejects(election.observe({ signal: 1 } as object).next(), invalid(/^options\.signal/))
  })
})

describe('among processes', () => {
  interface State {
    readonly isLeader: boolean
    readonly isAborted: boolean
    readonly token: number
  }

  const all = new Set<RankProcess>()
  let groups = 0

  afterEach(async () => {
    await Promise.all([...all].map((each) => each.kill()))
    all.clear()
  })

  function start(): RankProcess {
    const started = new RankProcess(new URL('./fixtures/election-rank.js', import.meta.url), {})
    all.add(started)
    return started
  }

  /** Three processes with ranks 0, 1 and 2, which have opened an election. */
  async function three(ttlMs: number): Promise<[RankProcess, RankProcess, RankProcess]> {
    const name = `election-${process.pid}-${++groups}`
    const processes = [start(), start(), start()]
    const ranks = await Promise.all(processes.map((each) => each.call<number>('open', name, ttlMs)))
    return [0, 1, 2].map((rank) => processes[ranks.indexOf(rank)]!) as [RankProcess, RankProcess, RankProcess]
  }

  /** Until it is known there that this rank leads. */
  async function leads(at: RankProcess, rank: number | undefined): Promise<void> {
    for (let looks = 0; looks < 2000; looks += 1) {
      if ((await at.call<{ rank: number } | undefined>('leader'))?.rank === rank) return
      await sleep(10)
    }
    assert.fail(`rank ${rank} does not lead`)
  }

  /** A resource that takes nothing from a leader that was followed by another. */
  class FencedResource {
    #token = 0

    write(token: number): boolean {
      if (token < this.#token) return false
      this.#token = token
      return true
    }
  }

  test('a leader that is killed is followed at once, whatever its ttl; one that waits and is killed never leads', async () => {
    const [a, b, c] = await three(LONG_MS)
    const tokenA = await a.call<number>('campaign')
    await leads(b, 0)
    const waiting = b.call<number>('campaign')
    // It is behind `b`, as it is asked later and in another process: wait until that is known.
    await sleep(100)
    const last = c.call<number>('campaign')
    await sleep(100)
    await b.kill()
    await assert.rejects(waiting)
    await leads(c, 0)
    // Two voters are left of three, and a third is needed before one of the two may end.
    const d = start()
    await d.call('open', `election-${process.pid}-${groups}`, LONG_MS)
    await leads(d, 0)
    await sleep(300)
    await a.kill()
    const tokenC = await last
    assert.ok(tokenC > tokenA)
    assert.deepEqual(await c.call('state'), { isLeader: true, isAborted: false, token: tokenC })
    await leads(d, 2)
  })

  test('a leader that leaves is followed at once', async () => {
    const [a, b] = await three(LONG_MS)
    await b.call('campaign')
    const next = a.call<number>('campaign')
    await b.call('close')
    assert.equal(typeof (await next), 'number')
    await leads(a, 0)
  })

  test('a leader that is stopped is followed after its ttl, finds out when it goes on, and writes nothing more', async () => {
    const [a, b, c] = await three(1000)
    const resource = new FencedResource()
    const oldToken = await a.call<number>('campaign')
    assert.ok(resource.write(oldToken))
    const next = b.call<number>('campaign')
    const inside = a.call<State>('stopInside')
    const newToken = await next
    assert.ok(newToken > oldToken)
    assert.ok(resource.write(newToken))
    await leads(c, 1)
    a.child.kill('SIGCONT')
    assert.deepEqual(await inside, { isLeader: false, isAborted: true })
    const { token } = await a.call<State>('state')
    assert.equal(resource.write(token), false)
    await leads(a, 1)
    assert.deepEqual(await a.call('seen'), [undefined, 0, 1])
  })

  test('a leader that does not renew is none any more, also where no one campaigns', async () => {
    const [a, b] = await three(1000)
    await a.call('campaign')
    await leads(b, 0)
    await a.stop()
    await leads(b, undefined)
    a.child.kill('SIGCONT')
    assert.equal(await a.call('lost'), 'ERR_AETHER_CONSENSUS_NOT_LEADER')
  })

  test('a leader without a majority ends its term by itself', async () => {
    const [a, b, c] = await three(1000)
    await a.call('campaign')
    await Promise.all([b.kill(), c.kill()])
    assert.equal(await a.call('lost'), 'ERR_AETHER_CONSENSUS_NOT_LEADER')
    assert.equal((await a.call<State>('state')).isLeader, false)
  })

  test('a leader lets a rank lead before others that wait', async () => {
    const [a, b, c] = await three(LONG_MS)
    const first = await a.call<number>('campaign')
    void b.call('campaign')
    await sleep(100)
    const third = c.call<number>('campaign')
    // The leader has to hear of it first.
    while (!(await a.call('transfer', 2).then(() => true, isNoCandidate))) await sleep(20)
    assert.ok((await third) > first)
    await leads(b, 2)
    await c.call('resign')
    await leads(c, 1)
  })

  test('over kills, stops and resignations no two processes lead at the same time, and tokens grow', async () => {
    const name = `election-${process.pid}-${++groups}`
    const file = path.join(directory, `led-${groups}`)
    const open = async (): Promise<RankProcess> => {
      const started = start()
      await started.call('open', name, 600)
      void started.call('leadOften', file, 250)
      return started
    }
    const running = await Promise.all([open(), open(), open()])
    const leader = async (): Promise<RankProcess> => {
      for (;;) {
        const led = await running[0]!.call<{ processId: number } | undefined>('leader')
        const found = running.find(({ processId }) => processId === led?.processId)
        if (found !== undefined) return found
        await sleep(5)
      }
    }
    for (let turn = 0; turn < 3; turn += 1) {
      await sleep(300)
      const killed = await leader()
      running.splice(running.indexOf(killed), 1)
      await killed.kill()
      running.push(await open())
      await sleep(300)
      const stopped = await leader()
      await stopped.stop()
      await sleep(1200)
      stopped.child.kill('SIGCONT')
    }
    await Promise.all(running.map((each) => each.call('finish')))
    await sleep(300)
    const spans = new Map<number, { first: bigint; last: bigint; by: string }>()
    for (const line of readFileSync(file, 'utf8').trimEnd().split('\n')) {
      const [token, time, by] = line.split(' ') as [string, string, string]
      const span = spans.get(Number(token)) ?? { first: BigInt(time), last: 0n, by }
      assert.equal(span.by, by, `two processes have the token ${token}`)
      spans.set(Number(token), { ...span, last: BigInt(time) })
    }
    const ordered = [...spans].sort(([a], [b]) => a - b)
    assert.ok(ordered.length > 5, `${ordered.length} terms`)
    for (const [index, [token, { first, by }]] of ordered.entries()) {
      const before = ordered[index - 1]?.[1]
      assert.ok(
        before === undefined || before.last < first,
        `process ${by} led with ${token} before ${before?.by} did not`,
      )
    }
  })
})
