import {
  checkBoolean,
  checkFunction,
  checkOptions,
  checkText,
  mustBe,
  type OptionNames,
  TimeoutError,
} from '../../native/index.ts'
import { checkByCase, checkDeviceName, checkPart, checkReport, isText } from '../setup.ts'
import type { ConformanceCase } from './case.ts'
import { conformanceCases } from './cases/index.ts'
import { Context, PATIENCE_MS, type Until } from './context.ts'
import { LocalPlayer } from './local-player.ts'
import { type Player, PlayerError } from './player.ts'
import { type RemotePlayer, startPlayer } from './remote-player.ts'

/** How long a device is waited for that is known to stay silent where the rule wants something to happen. */
const KNOWN_SILENCE_MS = 2000

/** Where the second end runs. */
export type Placement = 'one-process' | 'two-processes'

/** What a provider's test passes to the suite. */
export interface ConformanceSetup {
  readonly provider: string
  /** The name for `openDevice`. */
  readonly device: string
  readonly placement: Placement
  /** The words of a command that runs the second process, such as `ip netns exec b`. Default: none. */
  readonly under?: readonly string[]
  /**
   * The suite waits only through this function; a simulated provider lets its time pass here. Default: turns of the
   * event loop.
   */
  readonly until?: Until
  /** Names of cases that this provider may answer with Unsupported, and why. Everything else must pass. */
  readonly allowUnsupported?: Readonly<Record<string, string>>
  /**
   * Names of cases whose rule this device is known to break, and how it differs. A failure is excused only if its
   * message matches. For all other devices the rule stays in force.
   */
  readonly allowDifferent?: Readonly<Record<string, Difference>>
  /** Run only cases whose name contains this. */
  readonly only?: string
  /** Stop at the first failure. */
  readonly stopAtFailure?: boolean
}

/** How a device differs from a rule. */
export interface Difference {
  /** What it does instead, in one sentence. */
  readonly behaviour: string
  /** What the case's failure must say. */
  readonly failure: RegExp
}

export interface CaseResult {
  readonly name: string
  readonly rule: string
  readonly outcome: 'passed' | 'failed' | 'unsupported' | 'different'
  /** Why it failed or is unsupported, or what the device does instead. */
  readonly reason: string
}

export interface ConformanceReport {
  readonly provider: string
  readonly placement: Placement
  readonly results: readonly CaseResult[]
  readonly passed: number
  readonly failed: number
  readonly unsupported: number
  readonly different: number
}

/** Run the suite against a provider. Resolves to the report; a failing case does not make it reject. */
export async function runProviderConformance(setup: ConformanceSetup): Promise<ConformanceReport> {
  checkSetup(setup)
  const until = setup.until ?? untilOnEventLoop
  const remote: RemotePlayer | undefined = setup.placement === 'two-processes' ? startPlayer(setup.under) : undefined
  const players: readonly [Player, Player] = [new LocalPlayer(), remote?.player ?? new LocalPlayer()]
  const results: CaseResult[] = []
  try {
    for (const each of conformanceCases) {
      if (setup.only !== undefined && !each.name.includes(setup.only)) continue
      const result = await runCase(each, setup, until, players, remote?.process)
      results.push(result)
      if (result.outcome === 'failed' && setup.stopAtFailure === true) break
    }
  } finally {
    await remote?.stop()
  }
  const count = (outcome: CaseResult['outcome']): number =>
    results.filter((result) => result.outcome === outcome).length
  return {
    provider: setup.provider,
    placement: setup.placement,
    results,
    passed: count('passed'),
    failed: count('failed'),
    unsupported: count('unsupported'),
    different: count('different'),
  }
}

/** The report as a table for people. */
export function formatReport(report: ConformanceReport): string {
  checkReport(report, 'runProviderConformance()', {
    texts: ['provider', 'placement'],
    counts: ['passed', 'failed', 'unsupported', 'different'],
  })
  const width = Math.max(...report.results.map((result) => result.name.length))
  const lines = report.results.map(
    ({ name, outcome, reason }) => `  ${name.padEnd(width)}  ${outcome}${reason === '' ? '' : `: ${reason}`}`,
  )
  const { provider, placement, passed, failed, unsupported, different } = report
  return [
    ...lines,
    `${provider} (${placement}): ${passed} passed, ${failed} failed, ${unsupported} unsupported, ${different} different`,
  ].join('\n')
}

const setupNames: OptionNames<ConformanceSetup> = {
  provider: true,
  device: true,
  placement: true,
  under: true,
  until: true,
  allowUnsupported: true,
  allowDifferent: true,
  only: true,
  stopAtFailure: true,
}

/** Before anything starts. */
function checkSetup(setup: ConformanceSetup): void {
  if (setup === undefined) throw mustBe('setup', 'an object such as { provider, device, placement }', setup)
  checkOptions('runProviderConformance', setup, setupNames, 'setup')
  const { provider, device, placement, under, until, stopAtFailure } = setup
  checkText('provider', provider)
  if (placement !== 'one-process' && placement !== 'two-processes')
    throw mustBe('placement', "'one-process' or 'two-processes'", placement)
  if (under !== undefined && !(Array.isArray(under) && under.every(isText)))
    throw mustBe('under', "words such as ['ip', 'netns', 'exec', 'b']", under)
  if (until !== undefined) checkFunction('until', until, 'which takes a predicate and a deadline in milliseconds')
  checkByCase('allowUnsupported', setup.allowUnsupported, 'the reasons', isText)
  checkByCase('allowDifferent', setup.allowDifferent, '{ behaviour, failure }', isDifference)
  checkPart(setup.only)
  if (stopAtFailure !== undefined) checkBoolean('stopAtFailure', stopAtFailure)
  checkDeviceName(device)
}

function isDifference(value: unknown): boolean {
  const { behaviour, failure } = (value ?? {}) as Partial<Difference>
  return typeof behaviour === 'string' && failure instanceof RegExp
}

async function runCase(
  each: ConformanceCase,
  setup: ConformanceSetup,
  until: Until,
  players: readonly [Player, Player],
  other: RemotePlayer['process'] | undefined,
): Promise<CaseResult> {
  const { name, rule } = each
  const difference = setup.allowDifferent?.[name]
  const isSilent = difference?.failure.test(lateness(PATIENCE_MS)) === true
  const patience: Until = isSilent ? (holds, ms) => until(holds, Math.min(ms, KNOWN_SILENCE_MS)) : until
  try {
    const [first, second] = [await players[0].open(setup.device), await players[1].open(setup.device)]
    await each.run(new Context(patience, players, [first.gid, second.gid], other))
    await resetAll(players)
    return { name, rule, outcome: 'passed', reason: '' }
  } catch (error) {
    await resetAll(players).catch(() => undefined)
    const excuse = setup.allowUnsupported?.[name]
    if (error instanceof PlayerError && error.code === 'ERR_AETHER_UNSUPPORTED' && excuse !== undefined) {
      return { name, rule, outcome: 'unsupported', reason: excuse }
    }
    const reason = error instanceof Error ? error.message : String(error)
    if (difference?.failure.test(reason) === true)
      return { name, rule, outcome: 'different', reason: difference.behaviour }
    return { name, rule, outcome: 'failed', reason }
  }
}

async function resetAll(players: readonly [Player, Player]): Promise<void> {
  for (const player of players) await player.reset()
}

const lateness = (deadlineMs: number): string => `what the case waits for did not happen within ${deadlineMs} ms`

/** Check, let the event loop turn, and check again. */
async function untilOnEventLoop(predicate: () => boolean | Promise<boolean>, deadlineMs: number): Promise<void> {
  const deadline = performance.now() + deadlineMs
  while (!(await predicate())) {
    if (performance.now() > deadline) throw new TimeoutError(lateness(deadlineMs))
    await new Promise((resolve) => setImmediate(resolve))
  }
}
