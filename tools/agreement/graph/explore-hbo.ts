import type { Algorithm } from '../model/algorithm.ts'
import { violationOf } from '../play/judge.ts'
import { AgreementWorld, type MessageUnderWay } from '../play/world.ts'
import type { Neighbours } from './graphs.ts'
import type { HboProcess } from './hbo-process.ts'

export interface HboScene {
  /** HBO, or what a test makes of it. */
  readonly algorithm: Algorithm
  readonly neighbours: Neighbours
  /** What the processes propose, in each of the plays to begin with. */
  readonly inputs: readonly (readonly string[])[]
  /** Processes that never begin. */
  readonly crashed?: readonly number[]
  /** How many stages are explored at most, two for each round. */
  readonly stagesMax: number
  /** Shown each new world at the end of a stage. */
  readonly watch?: (world: AgreementWorld) => void
}

export interface HboExploration {
  /** How many stages it took until no new state came; `stagesMax` if some were left. */
  readonly stages: number
  /** True if all states of all rounds have been explored. */
  readonly isWhole: boolean
  /** Different states at the beginning of a stage. */
  readonly states: number
  /** Worlds that were made, within stages too. */
  readonly worlds: number
  readonly violation: string | undefined
  /** True if a state was met in which a process waits for ever and no one has decided. */
  readonly hasDeadlock: boolean
  /** The values that were decided in some play. */
  readonly decided: readonly string[]
}

/**
 * Explores HBO exhaustively, in the real process class, for all rounds: until no state at the beginning of a stage is
 * new. It plays stage by stage, though real processes may be many rounds apart. That leaves nothing out:
 *
 * 1. What a process does in a stage depends on registers and messages of that stage and on its own past. So events of
 *    different processes in different stages commute, and every play can be put in order of stages.
 * 2. Within a stage, claims come before deliveries: no claim depends on a message of its own stage.
 * 3. All claims of a stage are under way at once. So each register may be claimed in every order of its claimants,
 *    whatever happens to other registers. Orders of equal claims are one.
 * 4. A delivery that does not end the stage of its receiver changes only what that has heard. So the messages that end
 *    it are delivered in one move, and sets of them that lead to one state are one. Later messages are ignored.
 * 5. Messages to different processes commute. So how the stage ends is found for each process alone, and combined.
 * 6. A process that is slow or crashes is played as well: it goes on, its claims come last, and no one hears of it.
 *    Where it has claimed some registers first and not others, it is last at those others.
 * 7. A decision that is heard of is the one that was made, and the process falls silent, as one does in 6. So messages
 *    about decisions are left out.
 * 8. At the beginning of a stage only the values of processes count, as registers and messages are new in each. A
 *    process that cannot end its stage now never does: no one sends in it later.
 */
export function exploreHbo(scene: HboScene): HboExploration {
  return new HboExplorer(scene).run()
}

/** How a process may end its stage: by which messages, with which side of a coin, and in which state. */
interface EndOfStage {
  readonly process: number
  readonly messages: readonly MessageUnderWay[]
  readonly coin: boolean
  /** The state that it is in afterwards, and what it has decided. */
  readonly state: string
  readonly decides: readonly string[]
}

class HboExplorer {
  readonly scene: HboScene
  readonly seen = new Set<string>()
  readonly decided = new Set<string>()
  worlds = 0
  violation: string | undefined
  hasDeadlock = false

  constructor(scene: HboScene) {
    this.scene = scene
  }

  run(): HboExploration {
    let frontier = this.scene.inputs.map((inputs) => this.begin(inputs)).filter((world) => this.isNew(keyOf(world)))
    let stages = 0
    while (frontier.length > 0 && stages < this.scene.stagesMax && this.violation === undefined) {
      stages += 1
      frontier = frontier.flatMap((world) => this.playStage(world))
    }
    return {
      stages,
      isWhole: frontier.length === 0,
      states: this.seen.size,
      worlds: this.worlds,
      violation: this.violation,
      hasDeadlock: this.hasDeadlock,
      decided: [...this.decided].sort(),
    }
  }

  begin(inputs: readonly string[]): AgreementWorld {
    const { algorithm, neighbours, crashed = [] } = this.scene
    const { length } = neighbours
    const world = new AgreementWorld({
      algorithm,
      setting: { processes: length, memories: length, neighbours },
      inputs,
    })
    for (const process of crashed) world.perform({ do: 'crash', process })
    for (let process = 0; process < length; process += 1) if (world.up[process]) world.perform({ do: 'begin', process })
    return world
  }

  isNew(key: string): boolean {
    if (this.seen.has(key)) return false
    this.seen.add(key)
    return true
  }

  /** The worlds in new states in which the stage may end, where some process goes on. */
  playStage(world: AgreementWorld): AgreementWorld[] {
    const stage = lastStage(world)
    const active = activeAt(world, stage)
    let claimed = [world]
    for (let memory = 0; memory < world.memories.length; memory += 1)
      claimed = distinct(claimed.flatMap((each) => this.claimsAt(each, memory, active)))
    const answered = distinct(claimed.map((each) => this.answered(each)))
    const ended = answered.flatMap((each) => this.endsOf(each, active, stage))
    return ended.filter((each) => activeAt(each, lastStage(each)).length > 0)
  }

  /** All orders of the claims under way at a memory, by those whose stage is played. */
  claimsAt(world: AgreementWorld, memory: number, active: readonly number[]): AgreementWorld[] {
    const claimants = active.filter((process) => world.operations[world.channel(process, memory)]!.length > 0)
    const claimOf = (process: number): string =>
      JSON.stringify(world.operations[world.channel(process, memory)]![0]!.operation)
    const orders = new Map(ordersOf(claimants).map((order) => [order.map(claimOf).join(), order]))
    return [...orders.values()].map((order) => {
      const next = this.fork(world)
      for (const process of order) next.perform({ do: 'execute', process, memory })
      return next
    })
  }

  /** All answers reach their processes, which then send what they represent. */
  answered(world: AgreementWorld): AgreementWorld {
    const next = this.fork(world)
    for (let process = 0; process < next.processes.length; process += 1)
      for (let memory = 0; memory < next.memories.length; memory += 1)
        while (next.up[process] && next.answers[next.channel(process, memory)]!.length > 0)
          next.perform({ do: 'answer', process, memory })
    return next
  }

  /** The worlds in new states after all combinations of what ends the stage of each process. */
  endsOf(world: AgreementWorld, active: readonly number[], stage: number): AgreementWorld[] {
    this.judge(world)
    const waiting = active.filter((process) => isAt(world, process, stage))
    const ahead = active.filter((process) => !isAt(world, process, stage))
    const statesAhead = ahead.map((process) => stateOf(world, process, stage + 1))
    const choices = waiting.map((process) => this.endsFor(world, process, stage)).filter(({ length }) => length > 0)
    return combinationsOf(choices)
      .filter((chosen) => {
        const decided = [...decisionsOf(world), ...chosen.flatMap(({ decides }) => decides)]
        const states = chosen.filter(({ decides }) => decides.length === 0).map(({ state }) => state)
        return this.isNew(keyFrom(world, stage + 1, [...statesAhead, ...states], decided))
      })
      .map((chosen) => this.ended(world, chosen, stage))
  }

  /** The distinct ways in which messages under way end the stage of a process. */
  endsFor(world: AgreementWorld, process: number, stage: number): EndOfStage[] {
    const ends = new Map<string, EndOfStage>()
    const tried = new Set<string>()
    const hear = (before: AgreementWorld, messages: readonly MessageUnderWay[]): void => {
      before.messages.forEach((message, index) => {
        if (message.to !== process || stageOf(message) !== stage) return
        for (const next of this.delivered(before, index)) {
          const state = stateOf(next, process, stage + 1)
          if (isAt(next, process, stage)) {
            if (tried.has(state)) continue
            tried.add(state)
            hear(next, [...messages, message])
          } else {
            const decides = next.decisions[process]!
            ends.set(state, { process, messages: [...messages, message], coin: next.coin(), state, decides })
          }
        }
      })
    }
    hear(world, [])
    if (ends.size === 0 && decisionsOf(world).length === 0) this.hasDeadlock = true
    return [...ends.values()]
  }

  /** After the delivery of a message, with each side of a coin if one is flipped. */
  delivered(world: AgreementWorld, message: number): AgreementWorld[] {
    const [tails, heads] = [false, true].map((side) => {
      const next = this.fork(world)
      next.coin = () => side
      next.perform({ do: 'deliver', message })
      return next
    }) as [AgreementWorld, AgreementWorld]
    return tails.flips > world.flips ? [tails, heads] : [tails]
  }

  /** The world after these ends of a stage. Messages of that stage are ignored by all that go on. */
  ended(world: AgreementWorld, chosen: readonly EndOfStage[], stage: number): AgreementWorld {
    const next = this.fork(world)
    for (const { messages, coin } of chosen) {
      next.coin = () => coin
      for (const message of messages) next.perform({ do: 'deliver', message: next.messages.indexOf(message) })
    }
    next.messages = next.messages.filter((message) => (stageOf(message) ?? stage) > stage)
    this.judge(next)
    this.scene.watch?.(next)
    return next
  }

  judge(world: AgreementWorld): void {
    for (const value of decisionsOf(world)) this.decided.add(value)
    this.violation ??= violationOf(world)
  }

  fork(world: AgreementWorld): AgreementWorld {
    this.worlds += 1
    return world.fork()
  }
}

/** The stage of a message; undefined if it is about a decision. */
const stageOf = ({ message }: MessageUnderWay): number | undefined => (message as { readonly stage?: number }).stage

const processOf = (world: AgreementWorld, process: number): HboProcess => world.processes[process] as HboProcess

const goesOn = (world: AgreementWorld, process: number): boolean =>
  world.up[process]! && processOf(world, process).decided === null

/** The highest stage of a process that goes on. Those that are behind it are stuck there. */
const lastStage = (world: AgreementWorld): number =>
  Math.max(...world.processes.map((_, process) => (goesOn(world, process) ? processOf(world, process).stage : -1)))

const isAt = (world: AgreementWorld, process: number, stage: number): boolean =>
  goesOn(world, process) && processOf(world, process).stage === stage

const activeAt = (world: AgreementWorld, stage: number): number[] =>
  world.processes.flatMap((_, process) => (isAt(world, process, stage) ? [process] : []))

const decisionsOf = (world: AgreementWorld): string[] => [...new Set(world.decisions.flat())]

/** A process's state, with stages counted from `stage`. */
function stateOf(world: AgreementWorld, process: number, stage: number): string {
  const one = processOf(world, process)
  const heard = Object.entries(one.heard).map(([at, tally]) => [Number(at) - stage, tally.values])
  return JSON.stringify({ ...one, stage: one.stage - stage, heard })
}

/** The state of a world at the beginning of a stage. */
function keyOf(world: AgreementWorld): string {
  const stage = lastStage(world)
  const states = activeAt(world, stage).map((process) => stateOf(world, process, stage))
  return keyFrom(world, stage, states, decisionsOf(world))
}

function keyFrom(world: AgreementWorld, stage: number, states: readonly string[], decided: readonly string[]): string {
  // Validity depends on what was proposed, and nothing else on what came before.
  const proposed = [...new Set(world.scene.inputs)].sort().join()
  return `${stage % 2} ${proposed} ${[...new Set(decided)].sort().join()} ${[...states].sort().join(' ')}`
}

/** One world of each state within a stage, while claims are carried out. */
function distinct(worlds: readonly AgreementWorld[]): AgreementWorld[] {
  const states = worlds.map((world): [string, AgreementWorld] => [
    JSON.stringify([
      world.processes,
      world.memories.map(({ registers }) => registers),
      world.answers.map((answers) => answers.map(({ tag, values }) => [tag, values])),
    ]),
    world,
  ])
  return [...new Map(states).values()]
}

/** One of each list, in all ways. */
function combinationsOf<T>(lists: readonly (readonly T[])[]): T[][] {
  return lists.reduce<T[][]>((all, list) => all.flatMap((before) => list.map((each) => [...before, each])), [[]])
}

function ordersOf(members: readonly number[]): number[][] {
  if (members.length <= 1) return [[...members]]
  return members.flatMap((first) => ordersOf(members.filter((each) => each !== first)).map((rest) => [first, ...rest]))
}
