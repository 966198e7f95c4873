import { isIP } from 'node:net'
import { checkOptions, mustBe, type OptionNames, UnsupportedError } from '../../native/index.ts'
import { checkByCase, checkDeviceName, checkPart, checkReport, isText } from '../setup.ts'
import { connectionCases } from './cases/index.ts'
import { type ConnectionCase, ConnectionContext, type ConnectionSetup } from './context.ts'

interface ConnectionCaseResult {
  readonly name: string
  readonly rule: string
  readonly outcome: 'passed' | 'failed' | 'unsupported' | 'left out'
  readonly reason: string
}

export interface ConnectionReport {
  readonly device: string
  readonly results: readonly ConnectionCaseResult[]
  readonly passed: number
  readonly failed: number
}

/**
 * Run the suite of the connection manager over one device. Resolves to the report; a failing case does not make it
 * reject.
 */
export async function runConnectionConformance(setup: ConnectionSetup): Promise<ConnectionReport> {
  checkSetup(setup)
  const results: ConnectionCaseResult[] = []
  for (const each of connectionCases) {
    if (setup.only === undefined || each.name.includes(setup.only)) results.push(await runCase(each, setup))
  }
  const count = (outcome: string): number => results.filter((result) => result.outcome === outcome).length
  return { device: setup.device, results, passed: count('passed'), failed: count('failed') }
}

const setupNames: OptionNames<ConnectionSetup> = {
  device: true,
  address: true,
  address6: true,
  silentAddress: true,
  allowUnsupported: true,
  only: true,
}

/** Before anything starts. */
function checkSetup(setup: ConnectionSetup): void {
  if (setup === undefined) throw mustBe('setup', 'an object such as { device, address }', setup)
  checkOptions('runConnectionConformance', setup, setupNames, 'setup')
  const { device, address, address6, silentAddress } = setup
  checkAddress('address', address, [4])
  if (address6 !== undefined) checkAddress('address6', address6, [6])
  if (silentAddress !== undefined) checkAddress('silentAddress', silentAddress, [4, 6])
  checkByCase('allowUnsupported', setup.allowUnsupported, 'the reasons', isText)
  checkPart(setup.only)
  checkDeviceName(device)
}

function checkAddress(argument: string, value: unknown, families: readonly (4 | 6)[]): void {
  const family = typeof value === 'string' ? isIP(value) : 0
  if (families.some((each) => each === family)) return
  throw mustBe(argument, `a numeric ${families.map((each) => `IPv${each}`).join(' or ')} address`, value)
}

async function runCase(each: ConnectionCase, setup: ConnectionSetup): Promise<ConnectionCaseResult> {
  const { name, rule, needs } = each
  if (needs !== undefined && setup[needs] === undefined)
    return { name, rule, outcome: 'left out', reason: `the setup has no ${needs}` }
  const context = new ConnectionContext(setup)
  const failure = (await failureOf(() => each.run(context))) ?? (await failureOf(() => context.closeAll()))
  // What a failing case left open must not keep ports from the next cases, or the program from ending.
  await failureOf(() => context.closeAll())
  if (failure === undefined) return { name, rule, outcome: 'passed', reason: '' }
  const excuse = failure.error instanceof UnsupportedError ? setup.allowUnsupported?.[name] : undefined
  if (excuse !== undefined) return { name, rule, outcome: 'unsupported', reason: excuse }
  return { name, rule, outcome: 'failed', reason: String(failure.error) }
}

async function failureOf(run: () => void | Promise<void>): Promise<{ readonly error: unknown } | undefined> {
  try {
    await run()
    return undefined
  } catch (error) {
    return { error }
  }
}

/** The report as a table for people. */
export function formatConnectionReport(report: ConnectionReport): string {
  checkReport(report, 'runConnectionConformance()', { texts: ['device'], counts: ['passed', 'failed'] })
  const { device, results, passed, failed } = report
  const width = Math.max(...results.map((result) => result.name.length))
  const lines = results.map(
    ({ name, outcome, reason }) => `  ${name.padEnd(width)}  ${outcome}${reason === '' ? '' : `: ${reason}`}`,
  )
  const count = (outcome: string): number => results.filter((result) => result.outcome === outcome).length
  const others = `${count('unsupported')} unsupported, ${count('left out')} left out`
  return [...lines, `connections over ${device}: ${passed} passed, ${failed} failed, ${others}`].join('\n')
}
