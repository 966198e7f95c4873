import { UsageError } from 'aether-dsm/internal/cli'
import { type Algorithm, graphNamed, liesOf, playReal, type Setting } from '../../agreement/index.ts'
import { addressOf } from '../../bench/device-address.ts'
import { parseKills } from './kills.ts'
import { inputsOf, type PlayedWorld } from './plays.ts'

const TIMEOUT_MS = 60_000

export interface RealPlay {
  readonly algorithm: Algorithm
  readonly processes: number
  /** Ignored where each process has one. */
  readonly memories: number
  readonly graph: string
  readonly device: string
  readonly delayMs: number
  /** As `P0@3,M1`, in ms. */
  readonly kill: string
  /** As `P1=silent`. */
  readonly lie: string
}

/** The same between processes of this machine. @throws UsageError, and AetherError if they cannot be started. */
export async function realPlay(play: RealPlay): Promise<PlayedWorld> {
  const { algorithm, processes, device, delayMs, graph } = play
  const memories = algorithm.onGraph === true ? processes : play.memories
  const setting: Setting = {
    processes,
    memories,
    ...(algorithm.onGraph === true && { neighbours: graphNamed(graph, processes) }),
  }
  const refusal = algorithm.refuse(setting)
  if (refusal !== undefined) throw new UsageError(`${algorithm.name}: ${refusal}`, 'agreement')
  const kills = parseKills(play.kill, processes, memories).map(({ at, ...victim }) => ({ ...victim, atMs: at }))
  const lies = parseLies(play.lie, algorithm, processes)
  const inputs = algorithm.name === 'hbo' ? inputsOf(processes).map((_, at) => String(at % 2)) : inputsOf(processes)
  const scene = { algorithm, setting, inputs, device, address: addressOf(device), delayMs, lies }
  const { events, decisions, decidedAt, costs, leaders, undecided, violation } = await playReal(
    scene,
    kills,
    TIMEOUT_MS,
  )
  const liars = Object.entries(lies).map(([process, lie]) => `${process} lies: ${lie}`)
  const isCorrect = (process: number): boolean => lies[process] === undefined
  return {
    world: { scene, costs, decisions, decidedAt, isCorrect },
    events,
    unit: 'ms',
    isTimed: true,
    liars,
    notes: leadersText(leaders),
    violation: violation ?? undecidedText(algorithm, undecided, processes),
  }
}

/** @throws UsageError if it names what is not there, or no lie of that algorithm. */
function parseLies(text: string, algorithm: Algorithm, processes: number): Record<number, string> {
  const lies: Record<number, string> = {}
  const known = liesOf(algorithm)
  for (const each of text === '' ? [] : text.split(',')) {
    const [, process = '', lie = ''] = /^P(\d+)=(.+)$/.exec(each.trim()) ?? []
    if (known.length === 0) throw new UsageError(`${algorithm.name} is for processes that do not lie`, 'agreement')
    if (process === '' || Number(process) >= processes || !known.includes(lie))
      throw new UsageError(
        `--lie takes P0 to P${processes - 1} with ${known.join(', ')}, as in P0=${known[0]}, not '${each}'`,
        'agreement',
      )
    lies[Number(process)] = lie
  }
  return lies
}

function leadersText(leaders: readonly (number | undefined)[]): string[] {
  const known = leaders.flatMap((leader, process) => (leader === undefined ? [] : [`P${process} takes P${leader}`]))
  return known.length === 0 ? [] : [`${known.join(', ')} for the leader`]
}

function undecidedText({ task }: Algorithm, undecided: readonly number[], processes: number): string | undefined {
  if (undecided.length === 0) return undefined
  const what = task === 'election' ? 'have no leader in common' : 'did not decide'
  return `${undecided.length} of ${processes} processes ${what} in ${TIMEOUT_MS / 1000} s`
}
