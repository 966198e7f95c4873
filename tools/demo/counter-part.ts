import { setTimeout as sleep } from 'node:timers/promises'
import { open, type Space } from 'aether-dsm'
import { counterIndex, counterRegion, counterRegionBytes, noteIndex } from './counter-messages.ts'
import { CountingProcess } from './counting-crew.ts'

/** How many processes count, and how often each adds 1. */
export interface CounterPlan {
  readonly processes: number
  /** By Atomics.add. */
  readonly sharedTimes: number
  /** By messages that nobody answers; fewer, they take longer. */
  readonly sentTimes: number
  /** By messages that are answered; fewer still. */
  readonly askedTimes: number
}

export const counterPlanDefault: CounterPlan = {
  processes: 4,
  sharedTimes: 1_000_000,
  sentTimes: 25_000,
  askedTimes: 5_000,
}

/** One way of counting, measured. */
export interface CountingMeasure {
  readonly increments: number
  readonly ms: number
}

/** What was found after one of the processes had been killed. */
export interface KillOutcome {
  /** What each process had noted as done; the last is the one that was killed. */
  readonly noted: readonly number[]
  readonly counter: number
  /** How long after the signal the space reported the death, in milliseconds. */
  readonly reportedMs: number
}

/** Everything the first part measures. */
export interface CounterOutcome {
  readonly plan: CounterPlan
  readonly shared: CountingMeasure
  /** What the counter said after all had added. */
  readonly counter: number
  readonly sent: CountingMeasure
  readonly asked: CountingMeasure
  readonly kill: KillOutcome
}

/**
 * True where nothing was lost: the first count exact, the second ahead of the notes by at most the one addition that
 * the signal interrupted.
 */
export function isCounterOutcomeRight({ plan, counter, kill }: CounterOutcome): boolean {
  const ahead = kill.counter - kill.noted.reduce((sum, note) => sum + note, 0)
  return counter === plan.processes * plan.sharedTimes && (ahead === 0 || ahead === 1)
}

/** Count in shared memory and by messages, then kill one of the processes in the middle of it. */
export async function runCounterPart(plan: CounterPlan): Promise<CounterOutcome> {
  await using space = await open(`aether-demo-${process.pid}`)
  await using region = await space.openRegion(counterRegion, { size: counterRegionBytes, coherence: 'hardware' })
  const words = region.view(Int32Array)
  const crew = Array.from({ length: plan.processes }, () => new CountingProcess())
  try {
    await Promise.all(crew.map((member, index) => member.perform({ kind: 'open', space: space.name, index })))
    const shared = await measure(crew, plan.sharedTimes, 'add')
    const counter = Atomics.load(words, counterIndex)
    const sent = await measureMessages(crew, plan.sentTimes, 'send')
    const asked = await measureMessages(crew, plan.askedTimes, 'ask')
    const kill = await killOne(space, crew, words, plan.sharedTimes)
    return { plan, shared, counter, sent, asked, kill }
  } finally {
    for (const member of crew) member.dismiss()
    await Promise.all(crew.map((member) => member.ended))
  }
}

async function measure(
  crew: readonly CountingProcess[],
  times: number,
  kind: 'add' | 'send' | 'ask',
): Promise<CountingMeasure> {
  const start = performance.now()
  await Promise.all(crew.map((member) => member.perform({ kind, times })))
  return { increments: crew.length * times, ms: performance.now() - start }
}

/** The same work with the counter in this process and messages to it. */
async function measureMessages(
  crew: readonly CountingProcess[],
  times: number,
  kind: 'send' | 'ask',
): Promise<CountingMeasure> {
  let counter = 0
  for (const member of crew) {
    member.onMessage((reply) => {
      counter += 1
      if (reply.kind === 'ask') member.answer(counter)
    })
  }
  const result = await measure(crew, times, kind)
  if (counter !== result.increments) throw new Error(`${counter} of ${result.increments} messages arrived`)
  return result
}

/**
 * All count and note; the last one would go on for ever and is killed once it has made a third of what the others make.
 * The shared memory then holds what it did up to its last instruction.
 */
async function killOne(
  space: Space,
  crew: readonly CountingProcess[],
  words: Int32Array,
  times: number,
): Promise<KillOutcome> {
  const victim = crew.at(-1)!
  const survivors = crew.slice(0, -1)
  Atomics.store(words, counterIndex, 0)
  // Its task fails with its end, which is what is wanted.
  victim.perform({ kind: 'addAndNote', times: 2 ** 30 }).catch(() => {})
  const [killedAtMs, reportedAtMs] = await Promise.all([
    killAfter(victim, words, noteIndex(crew.length - 1), times / 3),
    nextDeath(space, victim.pid),
    ...survivors.map((member) => member.perform({ kind: 'addAndNote', times })),
  ])
  const noted = crew.map((_, index) => Atomics.load(words, noteIndex(index)))
  return { noted, counter: Atomics.load(words, counterIndex), reportedMs: reportedAtMs - killedAtMs }
}

/**
 * Kill it once it has noted `additions`. Resolves when it has ended, with when it was killed, as a performance.now().
 */
async function killAfter(victim: CountingProcess, words: Int32Array, note: number, additions: number): Promise<number> {
  let ended = false
  void victim.ended.then(() => {
    ended = true
  })
  while (!ended && Atomics.load(words, note) < additions) await sleep(1)
  const killedAtMs = performance.now()
  victim.kill('SIGKILL')
  await victim.ended
  return killedAtMs
}

/** When the space reports that the process died, as a performance.now(). */
async function nextDeath(space: Space, processId: number): Promise<number> {
  for await (const event of space.events()) {
    if (event.type === 'died' && event.member.processId === processId) return performance.now()
  }
  throw new Error('the space was closed before it reported a death')
}
