import { mustBe } from '../native/index.ts'
import { BodyCodec } from './body-codec.ts'
import { RpcError } from './errors.ts'
import { type MethodKind, methodNumber } from './frame.ts'
import { type CallSide, type MethodMeter, meterOf } from './method-meter.ts'
import type { BufferUse, Method, RdmaMethod, Service } from './service.ts'
import { type SchemaIssue, type SchemaResult, type StandardSchema, takesAnything } from './standard-schema.ts'

type Awaitable<T> = T | PromiseLike<T>

/** A method as the protocol uses it. */
export class MethodInfo {
  /** `service/method`. */
  readonly name: string
  readonly number: number
  readonly kind: MethodKind
  readonly streamsRequests: boolean
  readonly streamsAnswers: boolean
  /** Of kind `rdma`. */
  readonly buffers: BufferUse | undefined
  readonly codec: BodyCodec
  /** Undefined if any value is accepted. */
  readonly request: StandardSchema | undefined
  readonly response: StandardSchema | undefined
  /** Undefined if profiling is off. */
  readonly meter: MethodMeter | undefined

  constructor(side: CallSide, service: string, name: string, method: Method) {
    const { kind, codec, request, response } = method
    this.name = `${service}/${name}`
    this.number = methodNumber(service, name, kind)
    this.kind = kind
    this.streamsRequests = kind === 'client-stream' || kind === 'bidirectional'
    this.streamsAnswers = kind === 'server-stream' || kind === 'bidirectional'
    this.buffers = (method as Partial<RdmaMethod>).buffers
    this.codec = new BodyCodec(codec)
    this.request = takesAnything(request) ? undefined : request
    this.response = takesAnything(response) ? undefined : response
    this.meter = meterOf(side, this.name)
  }

  /** Count a call that failed before it began; returns the error, to be thrown. */
  refused<Failure>(error: Failure): Failure {
    this.meter?.refused(error)
    return error
  }

  /** True if a call names that part of its caller's memory. */
  takes(part: 'source' | 'target'): boolean {
    return this.buffers === part || this.buffers === 'both'
  }
}

/** The methods of a service, by name, as one end uses them. */
export function methodsOf(service: Service, side: CallSide): ReadonlyMap<string, MethodInfo> {
  if (typeof service?.methods !== 'object' || service.methods === null)
    throw mustBe('service', 'what defineService() returns', service)
  return new Map(
    Object.entries(service.methods).map(([name, each]) => [name, new MethodInfo(side, service.name, name, each)]),
  )
}

/** The result of a schema for a value. `refuse` makes the error if it does not fit. */
export function validate(
  schema: StandardSchema,
  value: unknown,
  refuse: (issues: readonly SchemaIssue[]) => RpcError,
): Awaitable<unknown> {
  const settle = (result: SchemaResult<unknown>): unknown => {
    if (result.issues !== undefined) throw refuse(plain(result.issues))
    return result.value
  }
  const result = schema['~standard'].validate(value)
  return result instanceof Promise ? result.then(settle) : settle(result)
}

/** Issues as they travel: libraries put much else into theirs. */
function plain(issues: readonly SchemaIssue[]): readonly SchemaIssue[] {
  return issues.map(({ message, path }) => ({ message, path: path?.map(segment) }))
}

function segment(each: PropertyKey | { readonly key: PropertyKey }): PropertyKey {
  const key = typeof each === 'object' ? each.key : each
  return typeof key === 'symbol' ? String(key) : key
}

/** The findings of a schema as a sentence. */
function issueText(issues: readonly SchemaIssue[]): string {
  return issues
    .map(({ message, path }) =>
      path === undefined || path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`,
    )
    .join('; ')
}

export function invalidRequest(method: string, issues: readonly SchemaIssue[]): RpcError {
  return new RpcError(
    'ERR_AETHER_RPC_INVALID_REQUEST',
    'refused',
    method,
    `the request does not match its schema: ${issueText(issues)}`,
    { issues },
  )
}

export function invalidResponse(method: string, issues: readonly SchemaIssue[]): RpcError {
  return new RpcError(
    'ERR_AETHER_RPC_INVALID_RESPONSE',
    'failed',
    method,
    `the answer does not match its schema: ${issueText(issues)}`,
    { issues },
  )
}
