import { ArgumentError } from '../native/index.ts'
import { invalidResponse, type MethodInfo, validate } from './method-info.ts'
import type { CallStart } from './method-meter.ts'
import type { StandardSchema } from './standard-schema.ts'

/** A value that becomes the answer once its method's schema has accepted it. */
export interface UncheckedAnswer {
  readonly method: MethodInfo
  readonly schema: StandardSchema
  readonly began: CallStart | undefined
  readonly length: number
}

function validated({ method, schema }: UncheckedAnswer, value: unknown): unknown {
  return validate(schema, value, (issues) => invalidResponse(method.name, issues))
}

/** The result of the schema. @throws RpcError if the value does not fit. */
export async function checked(answer: UncheckedAnswer, value: unknown): Promise<unknown> {
  const { method, began, length } = answer
  try {
    const fitting = await validated(answer, value)
    method.meter?.answeredWith(began, length)
    return fitting
  } catch (error) {
    method.meter?.failed(began, error)
    throw error
  }
}

/** The same for a call that blocks: after its wait, since the schema is the program's and may make calls, too. */
export function checkedSync(answer: UncheckedAnswer, value: unknown): unknown {
  const { method, began, length } = answer
  try {
    const fitting = validated(answer, value)
    if (fitting instanceof Promise) throw asyncSchema(method.name, fitting)
    method.meter?.answeredWith(began, length)
    return fitting
  } catch (error) {
    method.meter?.failed(began, error)
    throw error
  }
}

function asyncSchema(method: string, result: Promise<unknown>): ArgumentError {
  result.catch(() => undefined)
  return new ArgumentError(
    'response',
    `${method}Sync blocks, so the schema of its answers must not return a promise; call '${method}' instead`,
  )
}
