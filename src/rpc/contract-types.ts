import type { CallContext, RdmaCallContext } from './call-context.ts'
import type { CallOptions, RdmaCallOptions, StreamCallOptions, SyncCallOptions } from './call-options.ts'
import type { BufferUse, Method, Methods, Service } from './service.ts'
import type { SchemaInput, SchemaOutput } from './standard-schema.ts'

/** A value, or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>
/** The source of a stream. */
export type Stream<T> = AsyncIterable<T> | Iterable<T>

/** A stream of answers. Leaving the loop ends the call, and the handler's signal is aborted. */
export type AnswerStream<T> = AsyncIterableIterator<T>

/** A request, which may be left out where the method takes none. */
type Arguments<R, O> = undefined extends R ? [request?: R, options?: O] : [request: R, options?: O]

type UseOf<M> = M extends { readonly buffers: infer U extends BufferUse } ? U : never

/** A method as its caller uses it. */
type ClientMethod<M extends Method> =
  M extends Method<infer K, infer Q, infer A>
    ? {
        unary: (...call: Arguments<SchemaInput<Q>, CallOptions>) => Promise<SchemaOutput<A>>
        'server-stream': (...call: Arguments<SchemaInput<Q>, StreamCallOptions>) => AnswerStream<SchemaOutput<A>>
        'client-stream': (requests: Stream<SchemaInput<Q>>, options?: StreamCallOptions) => Promise<SchemaOutput<A>>
        bidirectional: (requests: Stream<SchemaInput<Q>>, options?: StreamCallOptions) => AnswerStream<SchemaOutput<A>>
        rdma: (request: SchemaInput<Q>, options: RdmaCallOptions<UseOf<M>>) => Promise<SchemaOutput<A>>
      }[K]
    : never

type UnaryNames<M extends Methods> = {
  [N in keyof M & string]: M[N]['kind'] extends 'unary' ? N : never
}[keyof M & string]

type SyncMethod<M extends Method> =
  M extends Method<'unary', infer Q, infer A>
    ? (...call: Arguments<SchemaInput<Q>, SyncCallOptions>) => SchemaOutput<A>
    : never

type MethodsOf<S extends Service> = S['methods']

/**
 * The methods of a service as functions. Unary ones have another form with `Sync` at the end, which blocks this thread.
 */
export type Client<S extends Service> = {
  readonly [N in keyof MethodsOf<S> & string]: ClientMethod<MethodsOf<S>[N]>
} & {
  readonly [N in UnaryNames<MethodsOf<S>> as `${N}Sync`]: SyncMethod<MethodsOf<S>[N]>
}

/** A method as its server implements it. */
type Handler<M extends Method> =
  M extends Method<infer K, infer Q, infer A>
    ? {
        unary: (request: SchemaOutput<Q>, context: CallContext) => Awaitable<SchemaInput<A>>
        'server-stream': (request: SchemaOutput<Q>, context: CallContext) => Stream<SchemaInput<A>>
        'client-stream': (
          requests: AsyncIterableIterator<SchemaOutput<Q>>,
          context: CallContext,
        ) => Awaitable<SchemaInput<A>>
        bidirectional: (
          requests: AsyncIterableIterator<SchemaOutput<Q>>,
          context: CallContext,
        ) => Stream<SchemaInput<A>>
        rdma: (request: SchemaOutput<Q>, context: RdmaCallContext<UseOf<M>>) => Awaitable<SchemaInput<A>>
      }[K]
    : never

/** A handler for each method. */
export type Handlers<S extends Service> = {
  readonly [N in keyof MethodsOf<S> & string]: Handler<MethodsOf<S>[N]>
}
