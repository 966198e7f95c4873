/** Cheap Quorum by itself, and what cuts the orders of it that have to be explored. */
import { fastAndRobust } from '../../../tools/agreement/byzantine/algorithms.ts'
import { CheapQuorum, cheapQuorumRegions, priorityOf } from '../../../tools/agreement/byzantine/cheap-quorum.ts'
import type { Preference } from '../../../tools/agreement/byzantine/preferential-paxos.ts'
import type { Algorithm, Setting } from '../../../tools/agreement/model/algorithm.ts'
import type { MemoryOperation } from '../../../tools/agreement/model/memory.ts'
import type { Acts, AgreementEvent, Process } from '../../../tools/agreement/model/process.ts'
import { type Budget, type Exploration, explore } from '../../../tools/agreement/play/explore.ts'
import { violationOf } from '../../../tools/agreement/play/judge.ts'
import { possible } from '../../../tools/agreement/play/timely.ts'
import type { Action, AgreementWorld, Scene } from '../../../tools/agreement/play/world.ts'

/** A process that keeps what it has given up with. */
class LoneQuorum implements Process {
  readonly quorum: CheapQuorum
  abort: Preference | null = null

  constructor(me: number, setting: Setting) {
    this.quorum = new CheapQuorum(me, setting)
  }

  step(event: AgreementEvent, acts: Acts): void {
    if (event.type === 'begin') this.quorum.begin(event.input, acts)
    else {
      const end = this.quorum.step(event, acts)
      if (end !== undefined && 'decided' in end) acts.decide(end.decided)
      else if (end !== undefined) this.abort = end.abort
    }
    const { registers } = this.quorum
    // No two operations under way have one name: what is stale is taken away. So they need no numbers.
    registers.serial = 0
    // What it reads after it has panicked, it does not look at.
    if (!this.isQuiet) registers.pending = registers.pending.filter(({ name }) => name !== 'look')
  }

  get isQuiet(): boolean {
    return !['panic', 'revoke', 'rest'].includes(this.quorum.stage)
  }

  isPending(tag: string): boolean {
    return this.quorum.registers.pending.some((pending) => pending.tag === tag)
  }
}

/** A process that also writes, as soon as it begins, what it must not. */
abstract class LyingQuorum extends LoneQuorum {
  override step(event: AgreementEvent, acts: Acts): void {
    super.step(event, acts)
    if (event.type === 'begin')
      for (let memory = 0; memory < this.quorum.registers.memories; memory += 1) this.lie(memory, acts)
  }

  protected abstract lie(memory: number, acts: Acts): void
}

const LIE = 'z'

/** A leader that signs a second value and writes it over the first. */
class LeaderOfTwoValues extends LyingQuorum {
  protected lie(memory: number, acts: Acts): void {
    const value = { value: LIE, leader: acts.sign(`value ${LIE}`) }
    acts.write(memory, { region: 'leader', index: 0 }, value, 'lie')
  }
}

/** A leader that writes another value to some of the memories. */
class LeaderOfTwoFaces extends LeaderOfTwoValues {
  protected override lie(memory: number, acts: Acts): void {
    if (memory % 2 === 1) super.lie(memory, acts)
  }
}

/** Takes the leader's right to write as soon as it can, and tells everyone to panic, but gives up nothing itself. */
class Panicker extends LyingQuorum {
  protected lie(memory: number, acts: Acts): void {
    acts.permit(memory, 'leader', [], 'lie')
    acts.write(memory, { region: `quorum/${this.quorum.me}`, index: 2 }, true, 'panic 0')
  }
}

/** Says that everyone has copied a value, which no one has. */
class FalseProver extends LyingQuorum {
  protected lie(memory: number, acts: Acts): void {
    const { me, processes } = this.quorum
    const copies = Array.from({ length: processes }, () => acts.sign('unanimous a'))
    acts.write(memory, { region: `quorum/${me}`, index: 1 }, { value: 'a', leader: '', copies }, 'lie')
  }
}

/** Copies the value and proves that all have, and then denies both. */
class Denying extends LoneQuorum {
  override step(event: AgreementEvent, acts: Acts): void {
    const before = this.quorum.stage
    super.step(event, acts)
    const { stage, me, registers } = this.quorum
    if (before === stage || stage !== 'proved') return
    for (let memory = 0; memory < registers.memories; memory += 1)
      for (const index of [0, 1]) acts.write(memory, { region: `quorum/${me}`, index }, null, 'lie')
  }
}

/** The processes that lie, and where. */
export const lyingQuorums: Readonly<Record<string, Record<number, (setting: Setting) => Process>>> = {
  'a leader that signs two values': { 0: (setting) => new LeaderOfTwoValues(0, setting) },
  'a leader with two faces': { 0: (setting) => new LeaderOfTwoFaces(0, setting) },
  'a process that panics at once': { 2: (setting) => new Panicker(2, setting) },
  'a process with a false proof': { 2: (setting) => new FalseProver(2, setting) },
  'a process that denies what it has proved': { 2: (setting) => new Denying(2, setting) },
}

const cheapQuorum: Algorithm = {
  ...fastAndRobust,
  name: 'cheap-quorum',
  title: 'Cheap Quorum',
  regions: ({ processes }) => cheapQuorumRegions(processes),
  create: (me, setting) => new LoneQuorum(me, setting),
}

const quorumOf = (world: AgreementWorld, process: number): LoneQuorum => world.processes[process] as LoneQuorum

/**
 * What commutes with the steps of others is done at once. An answer is heard as soon as there is one: what a process
 * begins then may still take any time. Only the answers about the leader's write are not all alike, so these wait. A
 * process also looks again at once. What a memory carries out unseen is done at once, too. Answers that a process no
 * longer waits for are taken away, and reads that bring them.
 */
function settle(world: AgreementWorld): void {
  for (let goesOn = true; goesOn; ) {
    goesOn = false
    takeAway(world)
    for (const action of possible(world)) {
      const isPoll = action.do === 'timer' && world.timers[action.timer]!.tag === 'quorum'
      const isAnswer = action.do === 'answer' && !answerTo(world, action.process, action.memory).startsWith('lead ')
      if (!isPoll && !isAnswer && !isUnseen(world, action)) continue
      world.perform(action)
      goesOn = true
      break
    }
  }
}

/** True for an operation of which no one sees whether it was carried out, except by its answer. */
function isUnseen(world: AgreementWorld, action: Action): boolean {
  if (action.do !== 'execute') return false
  const { process, memory } = action
  const { operation } = world.operations[world.channel(process, memory)]![0]!
  // What others may write and copy is looked at only by those that have not panicked.
  if (operation.do === 'write' && operation.register.region !== 'leader')
    return world.processes.every((_, one) => !world.up[one] || !quorumOf(world, one).isQuiet)
  // Taking the right to write changes nothing for a leader that does not write there any more.
  const ofLeader = world.operations[world.channel(0, memory)]!
  const isWritten = ({ operation: other }: { operation: MemoryOperation }): boolean =>
    other.do === 'write' && other.register.region === 'leader'
  return operation.do === 'permit' && world.begun[0]! && !ofLeader.some(isWritten)
}

const answerTo = (world: AgreementWorld, process: number, memory: number): string =>
  world.answers[world.channel(process, memory)]![0]!.tag

function takeAway(world: AgreementWorld): void {
  const { setting } = world.scene
  const channels = world.operations.map((_, channel) => {
    const process = Math.floor(channel / setting.memories)
    const isMemoryUp = world.memoryUp[channel % setting.memories]!
    const awaits = (tag: string): boolean => world.up[process]! && quorumOf(world, process).isPending(tag)
    return { channel, isMemoryUp, awaits }
  })
  world.operations = channels.map(({ channel, isMemoryUp, awaits }) => {
    const before = world.operations[channel]!
    const after = before.filter(({ operation, tag }) => isMemoryUp && (operation.do !== 'read' || awaits(tag)))
    return after.length === before.length ? before : after
  })
  world.answers = channels.map(({ channel, isMemoryUp, awaits }) => {
    const before = world.answers[channel]!
    const after = before.filter(({ tag }) => isMemoryUp && awaits(tag))
    return after.length === before.length ? before : after
  })
  world.timers = world.timers.filter(({ process, tag }) => {
    const { quorum, isQuiet } = quorumOf(world, process)
    return world.up[process] && (tag === 'quorum' || (isQuiet && !quorum.decided))
  })
}

/** What is next at a memory for a process. */
function nextAt(world: AgreementWorld, process: number, memory: number): string {
  return world.operations[world.channel(process, memory)]![0]?.tag ?? ''
}

/**
 * Where every register is written once, a look need not be split: what is read later holds all that was there before.
 * So a process looks at two memories at once, or not at all. One thing is not found in a look that has begun before: a
 * panic. So before the first panic comes to a memory, any of those that look may have begun there.
 */
function together(world: AgreementWorld, action: Action): readonly (readonly Action[])[] {
  if (action.do !== 'execute' || world.memories.length === 1) return [[action]]
  const { process, memory } = action
  const tag = nextAt(world, process, memory)
  if (tag.startsWith('panic ') && !world.processes.some((_, one) => hasPanicked(world, one, memory))) {
    const looks = world.processes.flatMap((_, one): Action[] =>
      looksAt(world, one, memory) && !hasBegunToLook(world, one) ? [{ do: 'execute', process: one, memory }] : [],
    )
    return subsetsOf(looks).map((some) => [...some, action])
  }
  if (!tag.startsWith('look ') || hasBegunToLook(world, process)) return [[action]]
  return world.memories.flatMap((_, other) =>
    other > memory && looksAt(world, process, other) ? [[action, { do: 'execute', process, memory: other }]] : [],
  )
}

const looksAt = (world: AgreementWorld, process: number, memory: number): boolean =>
  nextAt(world, process, memory).startsWith('look ')

const hasBegunToLook = (world: AgreementWorld, process: number): boolean =>
  quorumOf(world, process).quorum.registers.pending.some(({ name, answers }) => name === 'look' && answers.length > 0)

const subsetsOf = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: 2 ** all.length }, (_, bits) => all.filter((__, at) => ((bits >> at) & 1) === 1))

const hasPanicked = (world: AgreementWorld, process: number, memory: number): boolean =>
  world.memories[memory]!.registers[`quorum/${process}`]![2] === true

/** What the paper promises of Cheap Quorum (PODC'19, section 4.2), where it is broken. */
function brokenPromise(world: AgreementWorld): string | undefined {
  const violation = violationOf(world)
  if (violation !== undefined) return violation
  const acts = {
    verify: (process: number, text: string, signature: string) => world.signatures.verify(process, text, signature),
  } as Acts
  const correct = world.processes.map((_, process) => process).filter((process) => world.isCorrect(process))
  const deciders = correct.filter((process) => world.decisions[process]!.length > 0)
  for (const process of correct) {
    const { abort } = quorumOf(world, process)
    if (abort === null) continue
    const priority = priorityOf(abort, world.processes.length, acts)
    for (const decider of deciders) {
      const [value] = world.decisions[decider]!
      if (abort.value !== value)
        return `process ${decider} decided ${value}, and process ${process} gave up with ${abort.value}`
      // The leader decides alone. Others decide only when everyone can prove that all have copied the value.
      if (priority < (decider === 0 ? 1 : 2))
        return `process ${decider} decided ${value}, and process ${process} gave up with priority ${priority}`
    }
  }
  if (possible(world).length > 0) return undefined
  const isOpen = (process: number): boolean =>
    world.up[process]! && world.decisions[process]!.length === 0 && quorumOf(world, process).abort === null
  const open = correct.find(isOpen)
  return open === undefined ? undefined : `process ${open} neither decides nor gives up`
}

/** A process that has given up does nothing any more, unless its write as a leader is still under way. */
function stateOf(process: Process): unknown {
  const { quorum, abort } = process as LoneQuorum
  return abort !== null && quorum.registers.pending.length === 0 ? [abort, quorum.decided] : process
}

/** How a play of it ended: what each has decided, and with what each has given up. */
function endOf(world: AgreementWorld): string {
  return world.processes
    .map((process, index) => {
      const { abort } = process as LoneQuorum
      const isProved = abort !== null && JSON.stringify(abort.proof).includes('copies')
      const end = abort === null ? 'goes on' : `gives up with ${isProved ? 'proof of ' : ''}${abort.value}`
      return [world.up[index] ? end : 'crashes', ...world.decisions[index]!.map((value) => `decides ${value}`)].join(
        ' ',
      )
    })
    .join(', ')
}

export interface QuorumExploration extends Exploration {
  /** How it ended, where only a timer is left that may not run out any more. */
  readonly ends: readonly string[]
}

export interface QuorumOptions {
  readonly budget: Partial<Budget>
  readonly others?: Scene['others']
  /** Each look at each memory by itself, where not all registers are written once. */
  readonly splitsLooks?: boolean
}

/** Every order of it, with what the budget allows. */
export function exploreQuorum(
  setting: Setting,
  { budget, others = {}, splitsLooks = false }: QuorumOptions,
): QuorumExploration {
  const ends = new Set<string>()
  const inputs = ['a', 'b', 'c'].slice(0, setting.processes)
  const found = explore(
    { algorithm: cheapQuorum, setting, inputs, others },
    {
      budget: { timers: 0, leads: 0, crashes: 0, memoryCrashes: 0, ...budget },
      statesMax: 20_000_000,
      settle,
      divide: (process) => ({ own: stateOf(process), byMemory: [] }),
      ...(splitsLooks ? {} : { together }),
      judge: (world) => {
        if (possible(world).every((action) => action.do === 'timer')) ends.add(endOf(world))
        return brokenPromise(world)
      },
    },
  )
  return { ...found, ends: [...ends].sort() }
}
