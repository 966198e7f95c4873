import process from 'node:process'

/** What a process can be told to do: by name. */
export type Scenarios = Readonly<Record<string, (...args: never[]) => unknown>>

export interface RankReply {
  readonly id: number
  readonly value?: unknown
  readonly error?: {
    readonly name: string
    readonly message: string
    readonly code: string | undefined
    readonly fields: Readonly<Record<string, unknown>>
  }
}

interface Order {
  readonly id: number
  readonly scenario: string
  readonly args: readonly unknown[]
}

/** Variables that are set from now on. */
interface Adoption {
  readonly environment: Readonly<Record<string, string>>
}

/** In a child process: run what the test asks for, and answer with the result or the error. */
export function serveScenarios(scenarios: Scenarios): void {
  process.on('message', (order: Order | Adoption) => {
    if ('environment' in order) Object.assign(process.env, order.environment)
    else void obey(scenarios, order)
  })
  // A test that was killed leaves nobody.
  process.on('disconnect', () => process.exit(0))
}

async function obey(scenarios: Scenarios, { id, scenario, args }: Order): Promise<void> {
  const reply = await run(scenarios, scenario, args).then(
    (value): RankReply => ({ id, value }),
    (error: unknown): RankReply => ({ id, error: describe(error) }),
  )
  process.send?.(reply, undefined, undefined, () => {})
}

async function run(scenarios: Scenarios, name: string, args: readonly unknown[]): Promise<unknown> {
  const scenario = scenarios[name]
  if (scenario === undefined) throw new Error(`there is no scenario '${name}'`)
  return await scenario(...(args as never[]))
}

function describe(error: unknown): NonNullable<RankReply['error']> {
  if (!(error instanceof Error)) return { name: 'unknown', message: String(error), code: undefined, fields: {} }
  const { name, message, stack } = error
  const fields = Object.fromEntries(
    Object.entries(error).filter(([, value]) => typeof value !== 'object' || Array.isArray(value)),
  )
  const code = (error as { code?: string }).code
  return { name, message: code === undefined ? (stack ?? message) : message, code, fields }
}
