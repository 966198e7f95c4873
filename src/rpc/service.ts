import { ArgumentError, checkOptions, mustBe, type OptionNames } from '../native/index.ts'
import { ServiceError } from './errors.ts'
import { METHOD_KINDS, type MethodKind, methodNumber } from './frame.ts'
import type { RpcCodec } from './rpc-codec.ts'
import { type SchemaOutput, type StandardSchema, type } from './standard-schema.ts'
import { values } from './value-codec.ts'

/**
 * What a method of kind `rdma` uses of its caller's memory: a part to read from, a part to write into, or one of each.
 */
export type BufferUse = 'source' | 'target' | 'both'

/** A method of a contract: its request and its response. */
export interface Method<
  Kind extends MethodKind = MethodKind,
  Request extends StandardSchema = StandardSchema,
  Response extends StandardSchema = StandardSchema,
> {
  readonly kind: Kind
  readonly request: Request
  readonly response: Response
  /** The codec of requests and answers, or of their items. */
  readonly codec: RpcCodec
}

/** A method whose handler reads from, or writes into, memory of the caller. */
export interface RdmaMethod<
  Request extends StandardSchema = StandardSchema,
  Response extends StandardSchema = StandardSchema,
  Use extends BufferUse = BufferUse,
> extends Method<'rdma', Request, Response> {
  readonly buffers: Use
}

/** Options of a method. Leave out the schema of a request or response without a value. */
export interface MethodOptions<Request extends StandardSchema, Response extends StandardSchema> {
  readonly request?: Request
  readonly response?: Response
  /** Default: `values`. */
  readonly codec?: RpcCodec<never> | RpcCodec
}

type MethodNames = OptionNames<MethodOptions<StandardSchema, StandardSchema>>

const methodNames: MethodNames = { request: true, response: true, codec: true }
const rdmaNames: MethodNames & OptionNames<{ buffers: BufferUse }> = { ...methodNames, buffers: true }

type Void = StandardSchema<void, void>

function method<K extends MethodKind, Q extends StandardSchema, A extends StandardSchema>(
  kind: K,
  options: MethodOptions<Q, A>,
  call: string,
  names: MethodNames = methodNames,
): Method<K, Q, A> {
  if (options === undefined) throw mustBe('options', 'an object such as { request, response }', options)
  checkOptions<MethodOptions<StandardSchema, StandardSchema>>(call, options, names)
  const { request, response, codec } = options
  checkSchema('request', request)
  checkSchema('response', response)
  if (codec !== undefined && !(typeof codec?.encode === 'function' && typeof codec.decode === 'function'))
    throw new ArgumentError('options.codec', 'codec must have a name and the functions encode and decode')
  return {
    kind,
    request: request ?? (type<void>() as unknown as Q),
    response: response ?? (type<void>() as unknown as A),
    codec: (codec as RpcCodec | undefined) ?? values,
  }
}

function checkErrors(errors: unknown): void {
  if (typeof errors !== 'object' || errors === null)
    throw mustBe('options.errors', 'an object with a schema, or type<T>(), for each reason', errors)
  for (const [reason, schema] of Object.entries(errors)) checkSchema(`errors.${reason}`, schema)
}

function checkSchema(name: string, schema: StandardSchema | undefined): void {
  if (schema === undefined || typeof schema?.['~standard']?.validate === 'function') return
  throw new ArgumentError(
    `options.${name}`,
    `'${name}' must be a schema of a library that follows Standard Schema, or type<T>()`,
  )
}

/** Define a method with one request and one answer. */
export function unary<Q extends StandardSchema = Void, A extends StandardSchema = Void>(
  options: MethodOptions<Q, A>,
): Method<'unary', Q, A> {
  return method('unary', options, 'unary')
}

/** Define a method with one request and any number of answers. */
export function serverStream<Q extends StandardSchema = Void, A extends StandardSchema = Void>(
  options: MethodOptions<Q, A>,
): Method<'server-stream', Q, A> {
  return method('server-stream', options, 'serverStream')
}

/** Define a method with any number of requests and one answer. */
export function clientStream<Q extends StandardSchema = Void, A extends StandardSchema = Void>(
  options: MethodOptions<Q, A>,
): Method<'client-stream', Q, A> {
  return method('client-stream', options, 'clientStream')
}

/** Define a method with any number of requests and answers, in both directions at the same time. */
export function bidirectional<Q extends StandardSchema = Void, A extends StandardSchema = Void>(
  options: MethodOptions<Q, A>,
): Method<'bidirectional', Q, A> {
  return method('bidirectional', options, 'bidirectional')
}

/**
 * Define a method with one request, one answer, and memory of the caller, which the handler reads or writes in place.
 */
export function rdmaCall<const Use extends BufferUse, Q extends StandardSchema = Void, A extends StandardSchema = Void>(
  options: MethodOptions<Q, A> & { readonly buffers: Use },
): RdmaMethod<Q, A, Use> {
  const made = method('rdma', options, 'rdmaCall', rdmaNames)
  const { buffers } = options
  if (!['source', 'target', 'both'].includes(buffers))
    throw mustBe('options.buffers', "'source', 'target' or 'both'", buffers)
  return { ...made, buffers }
}

/** The type of a unary method without schemas, for contracts with written-out types. */
export type Unary<Request = void, Response = void> = Method<'unary', StandardSchema<Request>, StandardSchema<Response>>
/** The type of a method that answers with a stream, without schemas. */
export type ServerStream<Request = void, Response = void> = Method<
  'server-stream',
  StandardSchema<Request>,
  StandardSchema<Response>
>
/** The type of a method that takes a stream, without schemas. */
export type ClientStream<Request = void, Response = void> = Method<
  'client-stream',
  StandardSchema<Request>,
  StandardSchema<Response>
>
/** The type of a method with streams in both directions, without schemas. */
export type Bidirectional<Request = void, Response = void> = Method<
  'bidirectional',
  StandardSchema<Request>,
  StandardSchema<Response>
>

/** The type of a method with memory of the caller, without schemas. */
export type RdmaCall<Use extends BufferUse, Request = void, Response = void> = RdmaMethod<
  StandardSchema<Request>,
  StandardSchema<Response>,
  Use
>

/** Methods by name. */
export type Methods = Readonly<Record<string, Method>>
/** The details of a service's errors, by reason. */
export type ServiceErrors = Readonly<Record<string, StandardSchema>>

/** A contract, imported by both ends. */
export class Service<M extends Methods = Methods, E extends ServiceErrors = ServiceErrors> {
  readonly name: string
  readonly methods: M
  readonly errors: E

  /** @internal Use {@link defineService}. */
  constructor(name: string, methods: M, errors: E) {
    this.name = name
    this.methods = methods
    this.errors = errors
  }

  /** Make one of the service's errors, for a handler to throw. */
  error<R extends keyof E & string>(
    reason: R,
    details: SchemaOutput<E[R]>,
    message?: string,
  ): ServiceError<SchemaOutput<E[R]>> {
    return new ServiceError(reason, details, message)
  }

  /** True if a call ended with that error of the service; its details then have their type. */
  isError<R extends keyof E & string>(error: unknown, reason: R): error is ServiceError<SchemaOutput<E[R]>> {
    return error instanceof ServiceError && error.reason === reason
  }
}

/** Options of a service. */
export interface ServiceOptions<M extends Methods, E extends ServiceErrors> {
  /** The name of the service. Together with the names of its methods it identifies them on the wire. */
  readonly name: string
  readonly methods: M
  /** The reasons for which its calls may fail, each with the type of its details. */
  readonly errors?: E
}

const serviceNames: OptionNames<ServiceOptions<Methods, ServiceErrors>> = { name: true, methods: true, errors: true }

/**
 * Define a contract of both ends.
 * @throws ArgumentError if two methods have the same number on the wire, or would be the same function of a client:
 * rename one.
 */
export function defineService<M extends Methods, E extends ServiceErrors = Record<never, never>>(
  options: ServiceOptions<M, E>,
): Service<M, E> {
  if (options === undefined) throw mustBe('options', 'an object such as { name, methods }', options)
  checkOptions<ServiceOptions<Methods, ServiceErrors>>('defineService', options, serviceNames)
  const { name, methods, errors = {} as E } = options
  if (typeof name !== 'string' || name === '')
    throw new ArgumentError('options.name', 'name is missing; give the service a name')
  if (typeof methods !== 'object' || methods === null)
    throw new ArgumentError(
      'options.methods',
      'methods must be an object whose values are made by unary, serverStream, …',
    )
  checkErrors(errors)
  const names = new Map<number, string>()
  for (const [each, method] of Object.entries(methods)) {
    checkMethod(methods, each, method?.kind)
    const number = methodNumber(name, each, method.kind)
    const other = names.get(number)
    if (other !== undefined)
      throw new ArgumentError('options.methods', `'${each}' and '${other}' have the same number; rename one of them`)
    names.set(number, each)
  }
  return new Service(name, methods, errors)
}

/**
 * A client is an object of functions: `await` would call one named `then`, and a unary method has a second one that
 * blocks.
 */
function checkMethod(methods: Methods, name: string, kind: MethodKind | undefined): void {
  if (kind === undefined || !METHOD_KINDS.includes(kind))
    throw new ArgumentError(`options.methods.${name}`, `'${name}' is not a method; make it with unary, serverStream, …`)
  if (name === 'then')
    throw new ArgumentError(
      'options.methods',
      "a method cannot be named 'then', because a client would be taken for a promise; rename it",
    )
  if (kind === 'unary' && Object.hasOwn(methods, `${name}Sync`))
    throw new ArgumentError('options.methods', `'${name}Sync' is the blocking form of '${name}'; rename one of them`)
}
