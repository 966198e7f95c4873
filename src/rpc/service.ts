import { ArgumentError } from '../native/index.ts'
import type { RpcCodec } from './codec.ts'
import { ServiceError } from './errors.ts'
import { methodNumber } from './frame.ts'
import { type SchemaOutput, type StandardSchema, type } from './standard-schema.ts'
import { values } from './value-codec.ts'

/** How requests and answers follow each other. */
export type MethodKind = 'unary' | 'server-stream' | 'client-stream' | 'bidirectional' | 'rdma'

const KINDS: readonly MethodKind[] = ['unary', 'server-stream', 'client-stream', 'bidirectional', 'rdma']

/**
 * What a method of kind `rdma` takes of its caller's memory: a part to read from, a part to write into, or one of each.
 */
export type BufferUse = 'source' | 'target' | 'both'

/** A method of a contract: what goes in, what comes out. */
export interface Method<
  Kind extends MethodKind = MethodKind,
  Request extends StandardSchema = StandardSchema,
  Response extends StandardSchema = StandardSchema,
> {
  readonly kind: Kind
  readonly request: Request
  readonly response: Response
  /** Of requests and answers, or of their items. */
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

/** What a method is made of. Without a schema it takes, or gives, nothing that matters. */
export interface MethodOptions<Request extends StandardSchema, Response extends StandardSchema> {
  readonly request?: Request
  readonly response?: Response
  /** Default: `values`. */
  readonly codec?: RpcCodec<never> | RpcCodec
}

type Void = StandardSchema<void, void>

function method<K extends MethodKind, Q extends StandardSchema, A extends StandardSchema>(
  kind: K,
  { request, response, codec }: MethodOptions<Q, A>,
): Method<K, Q, A> {
  checkSchema('request', request)
  checkSchema('response', response)
  if (codec !== undefined && !(typeof codec.encode === 'function' && typeof codec.decode === 'function'))
    throw new ArgumentError('options.codec', 'a codec has a name and the functions encode and decode')
  return {
    kind,
    request: request ?? (type<void>() as unknown as Q),
    response: response ?? (type<void>() as unknown as A),
    codec: (codec as RpcCodec | undefined) ?? values,
  }
}

function checkSchema(name: string, schema: StandardSchema | undefined): void {
  if (schema === undefined || typeof schema['~standard']?.validate === 'function') return
  throw new ArgumentError(
    `options.${name}`,
    `'${name}' takes a schema of a library that follows Standard Schema, or type<T>()`,
  )
}

/** One request, one answer. */
export function unary<Q extends StandardSchema = Void, A extends StandardSchema = Void>(
  options: MethodOptions<Q, A>,
): Method<'unary', Q, A> {
  return method('unary', options)
}

/** One request, any number of answers. */
export function serverStream<Q extends StandardSchema = Void, A extends StandardSchema = Void>(
  options: MethodOptions<Q, A>,
): Method<'server-stream', Q, A> {
  return method('server-stream', options)
}

/** Any number of requests, one answer. */
export function clientStream<Q extends StandardSchema = Void, A extends StandardSchema = Void>(
  options: MethodOptions<Q, A>,
): Method<'client-stream', Q, A> {
  return method('client-stream', options)
}

/** Any number of requests and of answers, in both directions at a time. */
export function bidirectional<Q extends StandardSchema = Void, A extends StandardSchema = Void>(
  options: MethodOptions<Q, A>,
): Method<'bidirectional', Q, A> {
  return method('bidirectional', options)
}

/** One request, one answer, and beside them memory of the caller, which the handler reads or writes where it lies. */
export function rdmaCall<const Use extends BufferUse, Q extends StandardSchema = Void, A extends StandardSchema = Void>(
  options: MethodOptions<Q, A> & { readonly buffers: Use },
): RdmaMethod<Q, A, Use> {
  return { ...method('rdma', options), buffers: options.buffers }
}

/** The type of a unary method without schemas, for contracts whose type is written out. */
export type Unary<Request = void, Response = void> = Method<'unary', StandardSchema<Request>, StandardSchema<Response>>
/** The same of a method that answers with a stream. */
export type ServerStream<Request = void, Response = void> = Method<
  'server-stream',
  StandardSchema<Request>,
  StandardSchema<Response>
>
/** The same of a method that takes a stream. */
export type ClientStream<Request = void, Response = void> = Method<
  'client-stream',
  StandardSchema<Request>,
  StandardSchema<Response>
>
/** The same of a method of streams in both directions. */
export type Bidirectional<Request = void, Response = void> = Method<
  'bidirectional',
  StandardSchema<Request>,
  StandardSchema<Response>
>

/** The same of a method with memory of the caller. */
export type RdmaCall<Use extends BufferUse, Request = void, Response = void> = RdmaMethod<
  StandardSchema<Request>,
  StandardSchema<Response>,
  Use
>

/** Methods by name. */
export type Methods = Readonly<Record<string, Method>>
/** The details of a service's errors, by reason. */
export type ServiceErrors = Readonly<Record<string, StandardSchema>>

/** A contract: what both ends import. */
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

  /** One of the service's errors, for a handler to throw. */
  error<R extends keyof E & string>(
    reason: R,
    details: SchemaOutput<E[R]>,
    message?: string,
  ): ServiceError<SchemaOutput<E[R]>> {
    return new ServiceError(reason, details, message)
  }

  /** Whether a call ended with that error of the service; if so, its details have their type. */
  isError<R extends keyof E & string>(error: unknown, reason: R): error is ServiceError<SchemaOutput<E[R]>> {
    return error instanceof ServiceError && error.reason === reason
  }
}

/** What a service is made of. */
export interface ServiceOptions<M extends Methods, E extends ServiceErrors> {
  /** With the methods' names it is what tells them apart on the wire. */
  readonly name: string
  readonly methods: M
  /** Reasons for which its calls may fail, and what is told with each. */
  readonly errors?: E
}

/**
 * A contract of both ends.
 *
 * @throws ArgumentError where two methods have the same number on the wire, or would be one function of a client:
 * rename one.
 */
export function defineService<M extends Methods, E extends ServiceErrors = Record<never, never>>(
  options: ServiceOptions<M, E>,
): Service<M, E> {
  const { name, methods, errors = {} as E } = options
  if (typeof name !== 'string' || name === '') throw new ArgumentError('options.name', 'a service has a name')
  if (typeof methods !== 'object' || methods === null)
    throw new ArgumentError(
      'options.methods',
      'the methods of a service are an object, each made by unary, serverStream, …',
    )
  const names = new Map<number, string>()
  for (const [each, method] of Object.entries(methods)) {
    checkMethod(methods, each, method?.kind)
    const number = methodNumber(name, each)
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
  if (kind === undefined || !KINDS.includes(kind))
    throw new ArgumentError(`options.methods.${name}`, `'${name}' is no method: make it by unary, serverStream, …`)
  if (name === 'then')
    throw new ArgumentError('options.methods', "a method cannot be named 'then': a client would be taken for a promise")
  if (kind === 'unary' && Object.hasOwn(methods, `${name}Sync`))
    throw new ArgumentError('options.methods', `'${name}Sync' is the form of '${name}' that blocks; rename one of them`)
}
